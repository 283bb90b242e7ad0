import type { Serve } from '../../worker/client/client.ts';
import { readPermalink } from '../share/permalink.ts';
import type { RequestView } from '../state/request-view.ts';
import type { ServeStore } from '../state/serve-store.ts';
import { Composer } from './composer.ts';
import type { GenerationTexts } from './generation-fields.ts';
import { SAMPLE_PROMPTS } from './sample-prompts.ts';

/** The page's composer: it starts with the prompt and options of the address, and keeps every result in the history. */
export function createComposer(serve: Serve, store: ServeStore, hash: string): Composer {
  const { prompt = SAMPLE_PROMPTS[0] ?? '', texts } = readPermalink(hash);
  return new Composer(serve, store, { prompt, texts }, (request, sentTexts) => {
    // The history's code fails to load after the server gets a new version. The page still generates.
    void remember(request, sentTexts, store).catch(() => {});
  });
}

/** Loads the history with the first result, not at the page's start. */
async function remember(request: RequestView, texts: GenerationTexts, store: ServeStore): Promise<void> {
  const { addToHistory } = await import('../history/history-store.ts');
  const finishedAt = new Date().toISOString();
  const { id, prompt, generatedTexts, finishReason, seed, numOutputTokens } = request;
  await addToHistory({
    key: `${finishedAt} ${id}`,
    finishedAt,
    model: store.getState().status.model?.id ?? '',
    prompt,
    texts,
    generatedTexts,
    numOutputTokens,
    ...(finishReason && { finishReason }),
    ...(seed !== undefined && { seed }),
  });
}
