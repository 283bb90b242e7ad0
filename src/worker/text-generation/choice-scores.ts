import type { RequestEvent } from '../../batching/generation/events.ts';
import { GREEDY, type GenerationRequest } from '../../batching/generation/request.ts';
import type { RequestId } from '../../protocol/ids.ts';

/** One of the texts that an answer may be. */
interface ScoredText {
  /** The ID of the sequence that scores it. */
  readonly sequenceId: RequestId;
  readonly tokenIds: readonly number[];
}

/** How likely the model finds each text behind the prompt. Each is scored as the end of a prompt, without a new token. */
export class ChoiceScores {
  readonly #texts: readonly ScoredText[];
  /** Sums of the logprobs of each text's tokens. */
  readonly #scores = new Map<RequestId, number>();
  readonly #ended = new Set<RequestId>();

  constructor(texts: readonly ScoredText[]) {
    this.#texts = texts;
  }

  /** @param request Whose place in the queue the sequences have. */
  requestsFor(request: Pick<GenerationRequest, 'clientId' | 'promptTokenIds'>): readonly GenerationRequest[] {
    return this.#texts.map(({ sequenceId, tokenIds }) => ({
      ...request,
      id: sequenceId,
      promptTokenIds: [...request.promptTokenIds, ...tokenIds],
      maxNewTokens: 0,
      promptLogprobs: 0,
      scoredFrom: request.promptTokenIds.length,
      sampling: GREEDY,
    }));
  }

  get liveIds(): readonly RequestId[] {
    return this.#texts.map(({ sequenceId }) => sequenceId).filter((id) => !this.#ended.has(id));
  }

  /** Takes an event of one of its sequences. */
  apply(event: RequestEvent): void {
    const text = this.#texts.find(({ sequenceId }) => sequenceId === event.requestId);
    if (text && event.type === 'prompt-scored') {
      const own = event.logprobs.slice(-text.tokenIds.length);
      this.#scores.set(
        text.sequenceId,
        own.reduce((sum, { logprob }) => sum + (logprob ?? 0), 0),
      );
    }
    if (text && event.type === 'finished') this.#ended.add(text.sequenceId);
  }

  /** In the order of the texts. They add up to 1. */
  get probabilities(): readonly number[] {
    const scores = this.#texts.map(({ sequenceId }) => this.#scores.get(sequenceId) ?? -Infinity);
    const largest = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  }
}
