import type {
  FinishedEvent,
  PromptScoredEvent,
  RequestTimings,
  StartedEvent,
  TokenEvent,
} from '../../batching/generation/events.ts';
import type {
  GenerationResult,
  RequestId,
  RequestUpdate,
  Resumption,
  ServedModel,
} from '../protocol/protocol.ts';
import type { Continuation } from './continuation.ts';

type ChunkUpdate = Extract<RequestUpdate, { type: 'chunk' }>;

export interface ActiveRequestOptions {
  readonly requestId: RequestId;
  readonly model: ServedModel;
  readonly prompt: string;
  readonly numPromptTokens: number;
  readonly echo: boolean;
  /** Whether the prompt's logprobs come with it. */
  readonly scoresPrompt: boolean;
  /** Submitted -> received here, ms. */
  readonly elapsedMs: number;
  readonly resumption: Resumption | undefined;
  /** At least one. */
  readonly continuations: readonly Continuation[];
}

/** A request until all its continuations have ended: what the engine says of its sequences, told as the life of one. */
export class ActiveRequest {
  readonly #options: ActiveRequestOptions;
  #isStarted = false;
  #hasFirstToken: boolean;
  /** Of the sequences that have ended here. */
  readonly #timings: RequestTimings[] = [];

  constructor(options: ActiveRequestOptions) {
    this.#options = options;
    this.#hasFirstToken = options.resumption?.ttftMs !== undefined;
  }

  get requestId(): RequestId {
    return this.#options.requestId;
  }

  get numPromptTokens(): number {
    return this.#options.numPromptTokens;
  }

  /** Those that the engine is to make, or to go on with. */
  get liveContinuations(): readonly Continuation[] {
    return this.#options.continuations.filter(({ hasEnded }) => !hasEnded);
  }

  get sequenceIds(): readonly RequestId[] {
    return this.#options.continuations.map(({ sequenceId }) => sequenceId);
  }

  get liveIds(): readonly RequestId[] {
    return this.liveContinuations.map(({ sequenceId }) => sequenceId);
  }

  /** It starts when the first of its sequences does. */
  start({ queueWaitMs }: StartedEvent): readonly RequestUpdate[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const { requestId, model, prompt, echo, scoresPrompt, resumption, continuations } = this.#options;
    // A tab that a lost worker had told of the start has its echo, too.
    const echoed = echo && !scoresPrompt && resumption?.queueWaitMs === undefined ? continuations : [];
    return [
      { type: 'started', requestId, queueWaitMs: this.#wholeQueueWaitMs(queueWaitMs), model },
      ...echoed.map(({ index }) => ({ type: 'echo', requestId, index, text: prompt }) as const),
    ];
  }

  /** The prompt, which has waited for its logprobs. */
  addPrompt(continuation: Continuation, { logprobs: promptLogprobs }: PromptScoredEvent): RequestUpdate {
    const { requestId, prompt, echo } = this.#options;
    continuation.promptLogprobs = promptLogprobs;
    return {
      type: 'echo',
      requestId,
      index: continuation.index,
      text: echo ? prompt : '',
      promptLogprobs,
    };
  }

  addToken(continuation: Continuation, { tokenId, logprobs, ttftMs }: TokenEvent): ChunkUpdate {
    const { requestId, numPromptTokens, elapsedMs } = this.#options;
    const isFirst = ttftMs !== undefined && !this.#hasFirstToken;
    this.#hasFirstToken = true;
    if (logprobs) continuation.pushLogprobs(logprobs);
    return {
      type: 'chunk',
      requestId,
      index: continuation.index,
      text: continuation.takeText(),
      tokenIds: [tokenId],
      ...(logprobs && { logprobs: [logprobs] }),
      ...(isFirst && { ttftMs: ttftMs + elapsedMs, numPromptTokens }),
    };
  }

  /** The continuation's last chunk, with what it has held back. */
  end(continuation: Continuation, event: FinishedEvent): ChunkUpdate {
    const { requestId, numPromptTokens } = this.#options;
    this.#timings.push(event.timings);
    const finishReason = continuation.end(event.finishReason, event.numOutputTokens);
    const text = continuation.takeText();
    const isFirst = !this.#hasFirstToken;
    this.#hasFirstToken = true;
    return {
      type: 'chunk',
      requestId,
      index: continuation.index,
      text,
      tokenIds: [],
      ...(isFirst && { numPromptTokens }),
      finishReason,
    };
  }

  /** Once every continuation has ended. */
  toResult(): GenerationResult {
    const { prompt, numPromptTokens, continuations } = this.#options;
    const choices = continuations.map((continuation) => continuation.toChoice(prompt));
    const [first] = choices;
    if (!first) throw new Error(`Request ${this.requestId} has no continuation.`);
    const lengths = continuations.map(({ numOutputTokens }) => numOutputTokens);
    return {
      ...first,
      choices,
      usage: { numPromptTokens, numOutputTokens: lengths.reduce((sum, length) => sum + length, 0) },
      timings: this.#wholeTimings(Math.max(...lengths)),
    };
  }

  /** As the caller has waited: from the submission on, whichever worker it went to, until the last continuation's end. */
  #wholeTimings(maxOutputTokens: number): RequestTimings {
    const { elapsedMs, resumption } = this.#options;
    const queueWaitMs = this.#wholeQueueWaitMs(
      Math.min(...this.#timings.map((timings) => timings.queueWaitMs)),
    );
    const ttftMs =
      resumption?.ttftMs ?? elapsedMs + Math.min(...this.#timings.map((timings) => timings.ttftMs));
    const e2eMs = elapsedMs + Math.max(...this.#timings.map((timings) => timings.e2eMs));
    const tpotMs = maxOutputTokens > 1 ? (e2eMs - ttftMs) / (maxOutputTokens - 1) : 0;
    return { queueWaitMs, ttftMs, e2eMs, tpotMs };
  }

  #wholeQueueWaitMs(queueWaitMs: number): number {
    const { elapsedMs, resumption } = this.#options;
    return resumption?.queueWaitMs ?? queueWaitMs + elapsedMs;
  }
}

/** A continuation's end is told with the token that it came with, where it came with one. */
export function pushEnd(updates: RequestUpdate[], end: ChunkUpdate): void {
  const last = updates.at(-1);
  if (last?.type === 'chunk' && last.requestId === end.requestId && last.index === end.index) {
    updates.pop();
    updates.push({ ...last, ...end, text: last.text + end.text, tokenIds: last.tokenIds });
  } else {
    updates.push(end);
  }
}
