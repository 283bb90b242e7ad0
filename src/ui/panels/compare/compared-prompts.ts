import type { RequestId } from '../../../client/index.ts';
import type { SentPrompt } from '../../state/composer/composer.ts';
import type { ServeView } from '../../state/serve-store.ts';

/** A prompt of a run as it is sent again. */
export interface ComparedPrompt extends SentPrompt {
  /** The one that the run used; undefined where it did not finish. */
  readonly seed: number | undefined;
}

/** How long the same prompts took. */
export interface Measured {
  /** Under `continuous`. */
  readonly togetherMs: number;
  /** Under `off`. */
  readonly oneAtATimeMs: number;
  /** Whether each text was the same under both. */
  readonly hasSameTexts: boolean;
}

/** This tab's requests of its newest run that got a text, in the order of submission. */
export function promptsOfRun(
  { runs, requests }: Pick<ServeView, 'runs' | 'requests'>,
  composer: { readonly sentAs: (id: RequestId) => SentPrompt | undefined },
): readonly ComparedPrompt[] {
  return (runs.own?.requestIds ?? []).flatMap((id) => {
    const request = requests.get(id);
    if (!request || request.sender !== undefined || request.numOutputTokens === 0) return [];
    const { prompt, numOutputTokens, seed } = request;
    const sent = composer.sentAs(id);
    if (!sent) return [{ prompt, options: { maxNewTokens: numOutputTokens }, seed }];
    // One at a time, the last prompt waits for all others; that must not fail it.
    const { timeoutMs: _timeoutMs, ...options } = sent.options;
    return [{ prompt: sent.prompt, options, seed }];
  });
}
