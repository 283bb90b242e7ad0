import type {
  FinishedEvent,
  RequestEvent,
  RequestTimings,
  TokenEvent,
} from '../../batching/generation/events.ts';
import type { GenerationResult } from '../protocol/generation.ts';
import type { RequestId } from '../protocol/ids.ts';
import type { RequestUpdate, Resumption } from '../protocol/requests.ts';
import type { ServedModel } from '../protocol/models.ts';
import { toWireError } from '../protocol/wire-errors.ts';
import type { Choice } from './choice.ts';
import type { Submission } from './prompt-generator.ts';

type ChunkUpdate = Extract<RequestUpdate, { type: 'chunk' }>;

export interface ActiveRequestOptions extends Pick<Submission, 'requestId' | 'elapsedMs'> {
  readonly model: ServedModel;
  readonly prompt: string;
  readonly numPromptTokens: number;
  readonly echo: boolean;
  /** Whether the prompt's logprobs come with its echo. */
  readonly scoresPrompt: boolean;
  readonly resumption: Resumption | undefined;
  /** At least one. */
  readonly choices: readonly Choice[];
}

/** A request until all its choices have ended: turns the events of its sequences into the updates of one request. */
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

  /** The choices that have not ended. */
  get live(): readonly Choice[] {
    return this.#options.choices.filter(({ hasEnded }) => !hasEnded);
  }

  get liveIds(): readonly RequestId[] {
    return this.live.map(({ sequenceId }) => sequenceId);
  }

  /** Appends what the event of one of its sequences means for the request. Returns whether the request has ended. */
  apply(event: RequestEvent, updates: RequestUpdate[]): boolean {
    const { requestId, choices } = this.#options;
    const choice = choices.find(({ sequenceId }) => sequenceId === event.requestId);
    if (!choice) return false;
    switch (event.type) {
      case 'started':
        updates.push(...this.#start(event.queueWaitMs));
        return false;
      case 'prompt-scored': {
        const { logprobs: promptLogprobs } = event;
        choice.promptLogprobs = promptLogprobs;
        updates.push({ ...this.#echoOf(choice), promptLogprobs });
        return false;
      }
      case 'token':
        updates.push(this.#toChunk(choice, event));
        return false;
      case 'finished':
        this.#timings.push(event.timings);
        pushEnd(updates, this.#toLastChunk(choice, event));
        if (this.live.length > 0) return false;
        updates.push({ type: 'finished', requestId, result: this.#toResult() });
        return true;
      case 'failed':
        updates.push({ type: 'failed', requestId, error: toWireError(event.error) });
        return true;
      default:
        return event satisfies never;
    }
  }

  /** The request starts when the first of its sequences does. */
  #start(queueWaitMs: number): readonly RequestUpdate[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const { requestId, model, echo, scoresPrompt, resumption, choices } = this.#options;
    // A tab that was told of the start by a lost worker has its echo, too.
    const isEchoed = echo && !scoresPrompt && resumption?.queueWaitMs === undefined;
    const echoes = isEchoed ? choices.map((choice) => this.#echoOf(choice)) : [];
    return [
      { type: 'started', requestId, queueWaitMs: this.#wholeQueueWaitMs(queueWaitMs), model },
      ...echoes,
    ];
  }

  #echoOf({ index }: Choice): Extract<RequestUpdate, { type: 'echo' }> {
    const { requestId, prompt, echo } = this.#options;
    return { type: 'echo', requestId, index, text: echo ? prompt : '' };
  }

  #toChunk(choice: Choice, { tokenId, logprobs, ttftMs }: TokenEvent): ChunkUpdate {
    const { requestId, numPromptTokens, elapsedMs } = this.#options;
    const isFirst = ttftMs !== undefined && !this.#hasFirstToken;
    this.#hasFirstToken = true;
    if (logprobs) choice.pushLogprobs(logprobs);
    return {
      type: 'chunk',
      requestId,
      index: choice.index,
      text: choice.takeText(),
      tokenIds: [tokenId],
      ...(logprobs && { logprobs: [logprobs] }),
      ...(isFirst && { ttftMs: ttftMs + elapsedMs, numPromptTokens }),
    };
  }

  #toLastChunk(choice: Choice, { finishReason: reason, numOutputTokens }: FinishedEvent): ChunkUpdate {
    const { requestId, numPromptTokens } = this.#options;
    const isFirst = !this.#hasFirstToken;
    this.#hasFirstToken = true;
    const finishReason = choice.end(reason, numOutputTokens);
    return {
      type: 'chunk',
      requestId,
      index: choice.index,
      text: choice.takeText(),
      tokenIds: [],
      ...(isFirst && { numPromptTokens }),
      finishReason,
    };
  }

  #toResult(): GenerationResult {
    const { requestId, prompt, numPromptTokens, choices } = this.#options;
    const results = choices.map((choice) => choice.toResult(prompt));
    const [first] = results;
    if (!first) throw new Error(`Request ${requestId} has no choice.`);
    const lengths = choices.map(({ numOutputTokens }) => numOutputTokens);
    return {
      ...first,
      choices: results,
      usage: { numPromptTokens, numOutputTokens: lengths.reduce((sum, length) => sum + length, 0) },
      timings: this.#wholeTimings(Math.max(...lengths)),
    };
  }

  /** From the submission, whichever worker it went to, until the end of the last choice. */
  #wholeTimings(maxOutputTokens: number): RequestTimings {
    const { elapsedMs, resumption } = this.#options;
    const firstOf = (name: keyof RequestTimings): number =>
      Math.min(...this.#timings.map((timings) => timings[name]));
    const queueWaitMs = this.#wholeQueueWaitMs(firstOf('queueWaitMs'));
    const ttftMs = resumption?.ttftMs ?? elapsedMs + firstOf('ttftMs');
    const e2eMs = elapsedMs + Math.max(...this.#timings.map((timings) => timings.e2eMs));
    const tpotMs = maxOutputTokens > 1 ? (e2eMs - ttftMs) / (maxOutputTokens - 1) : 0;
    return { queueWaitMs, ttftMs, e2eMs, tpotMs };
  }

  #wholeQueueWaitMs(queueWaitMs: number): number {
    const { elapsedMs, resumption } = this.#options;
    return resumption?.queueWaitMs ?? queueWaitMs + elapsedMs;
  }
}

/** Merges the end of a choice with the chunk of its last token, if the same step brought it. */
function pushEnd(updates: RequestUpdate[], end: ChunkUpdate): void {
  const last = updates.at(-1);
  if (last?.type === 'chunk' && last.requestId === end.requestId && last.index === end.index) {
    updates.splice(-1, 1, { ...last, ...end, text: last.text + end.text, tokenIds: last.tokenIds });
  } else {
    updates.push(end);
  }
}
