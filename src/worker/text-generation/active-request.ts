import type { GenerationRequest } from '../../batching/generation/request.ts';
import type { RequestEvent, RequestTimings, StartedEvent } from '../../batching/generation/events.ts';
import type { GenerationResult } from '../../protocol/generation.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { ServedModel } from '../../protocol/models.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { Choice } from './choice.ts';
import type { ChoiceScores } from './choice-scores.ts';
import type { Submission } from './submissions.ts';
import type { Prompt } from './prompt-tokens.ts';

type ChunkUpdate = Extract<RequestUpdate, { type: 'chunk' }>;

export interface ActiveRequestOptions {
  readonly submission: Submission;
  readonly model: ServedModel;
  readonly prompt: Prompt;
  readonly echo: boolean;
  /** Whether the prompt's logprobs come with its echo. */
  readonly scoresPrompt: boolean;
  /** At least one. */
  readonly choices: readonly Choice[];
  /** Scores of the texts that an answer may be, if their probabilities are wanted. */
  readonly scores?: ChoiceScores | undefined;
}

/** Sequences of a request that wait for others of it. */
interface WaitingSequences {
  readonly sequences: readonly GenerationRequest[];
  readonly isReady: () => boolean;
}

/** An unfinished request. Turns the events of its sequences into updates of the request. */
export class ActiveRequest {
  readonly #options: ActiveRequestOptions;
  #isStarted = false;
  #hasFirstToken: boolean;
  /** Cached prompt tokens of the choice that starts first. The other choices reuse its whole prompt. */
  #numCachedTokens = 0;
  /** Timings of the sequences that have ended. */
  readonly #timings: RequestTimings[] = [];
  /** At this worker. */
  #queueWaitMs = 0;
  /** When the scores were there, from the submission to this worker; 0 without them. */
  #scoredMs = 0;
  /** Its sequences that the engine doesn't have yet, in the order in which they may go there. */
  readonly #waiting: WaitingSequences[] = [];

  constructor(options: ActiveRequestOptions) {
    this.#options = options;
    this.#hasFirstToken = options.submission.resumption?.ttftMs !== undefined;
  }

  get requestId(): RequestId {
    return this.#options.submission.requestId;
  }

  get #isReadAtEnd(): boolean {
    return this.#options.submission.updates === 'end';
  }

  get numPromptTokens(): number {
    return this.#options.prompt.tokenIds.length;
  }

  /** The choices that have not ended. */
  get live(): readonly Choice[] {
    return this.#options.choices.filter(({ hasEnded }) => !hasEnded);
  }

  get liveIds(): readonly RequestId[] {
    const { scores } = this.#options;
    return [...this.live.map(({ sequenceId }) => sequenceId), ...(scores?.liveIds ?? [])];
  }

  /** @param own A sequence for each live choice. @param scoring What those that score texts have of these. */
  prepare(
    own: readonly GenerationRequest[],
    scoring: Pick<GenerationRequest, 'clientId' | 'promptTokenIds'>,
  ): void {
    const { scores } = this.#options;
    if (!scores) {
      this.#waiting.push({ sequences: own, isReady: () => true });
      return;
    }
    // Those that score wait until the first has read the prompt, which they copy. All others wait for the scores.
    const [first, ...others] = scores.requestsFor(scoring);
    this.#waiting.push(
      { sequences: first ? [first] : [], isReady: () => true },
      { sequences: others.map(asNext), isReady: () => scores.hasBegun },
      { sequences: own.map(asNext), isReady: () => scores.hasEnded },
    );
  }

  /** The sequences that may go to the engine now, each once. */
  takeReady(): readonly GenerationRequest[] {
    const taken: GenerationRequest[] = [];
    while (this.#waiting[0]?.isReady()) taken.push(...(this.#waiting.shift()?.sequences ?? []));
    return taken;
  }

  /** Appends the updates that a sequence's event causes. Returns whether the request has ended. */
  apply(event: RequestEvent, updates: RequestUpdate[]): boolean {
    const { requestId } = this;
    const choice = this.#options.choices.find(({ sequenceId }) => sequenceId === event.requestId);
    if (!choice) return this.#applyScore(event, updates);
    switch (event.type) {
      case 'started':
        updates.push(...this.#start(event));
        return false;
      case 'prompt-scored':
        choice.promptLogprobs = event.logprobs;
        updates.push({ ...this.#echoOf(choice), promptLogprobs: event.logprobs });
        return false;
      case 'token-scored':
        return false;
      case 'token': {
        const { tokenId, logprobs, ttftMs } = event;
        const isFirst = ttftMs !== undefined && !this.#hasFirstToken;
        if (logprobs) choice.pushLogprobs(logprobs);
        if (this.#isReadAtEnd && !isFirst) return false;
        updates.push({
          ...this.#chunkOf(choice, isFirst),
          tokenIds: [tokenId],
          ...(logprobs && { logprobs: [logprobs] }),
          ...(isFirst && { ttftMs: ttftMs + this.#scoredMs + this.#options.submission.elapsedMs }),
        });
        return false;
      }
      case 'finished': {
        const { queueWaitMs, ttftMs, e2eMs, tpotMs } = event.timings;
        const before = this.#scoredMs;
        this.#timings.push({ queueWaitMs, ttftMs: before + ttftMs, e2eMs: before + e2eMs, tpotMs });
        const finishReason = choice.end(event.finishReason, event.numOutputTokens);
        const chunk = this.#chunkOf(choice, !this.#hasFirstToken);
        if (!this.#isReadAtEnd) pushEnd(updates, { ...chunk, finishReason });
        return this.#finish(updates);
      }
      case 'failed':
        updates.push({ type: 'failed', requestId, error: toWireError(event.error) });
        return true;
    }
  }

  /** An event of a sequence that scores a text, whose end may be the last one. */
  #applyScore(event: RequestEvent, updates: RequestUpdate[]): boolean {
    const { scores } = this.#options;
    if (!scores) return false;
    scores.apply(event);
    if (event.type === 'started') updates.push(...this.#start(event));
    if (event.type === 'failed') {
      updates.push({ type: 'failed', requestId: this.requestId, error: toWireError(event.error) });
      return true;
    }
    if (event.type !== 'finished') return false;
    this.#scoredMs = Math.max(this.#scoredMs, event.timings.e2eMs);
    // A lost worker has ended all choices.
    if (this.live.length === 0 && this.#timings.length === 0) this.#timings.push(event.timings);
    return this.#finish(updates);
  }

  #finish(updates: RequestUpdate[]): boolean {
    if (this.liveIds.length > 0) return false;
    updates.push({ type: 'finished', requestId: this.requestId, result: this.#toResult() });
    return true;
  }

  /** The request starts when the first of its sequences does. */
  #start({ queueWaitMs, numReusedTokens }: StartedEvent): readonly RequestUpdate[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    this.#queueWaitMs = queueWaitMs;
    // Resumed tokens are reused like the prompt's, but are not part of the prompt.
    this.#numCachedTokens = Math.min(numReusedTokens, this.numPromptTokens);
    const { submission, model, echo, scoresPrompt, choices } = this.#options;
    const { requestId, resumption } = submission;
    // If a lost worker has sent `started`, the tab has the echo too.
    const isEchoed = echo && !scoresPrompt && resumption?.queueWaitMs === undefined;
    const echoes = isEchoed ? choices.map((choice) => this.#echoOf(choice)) : [];
    return [{ type: 'started', requestId, queueWaitMs: this.#wholeQueueWaitMs, model }, ...echoes];
  }

  #echoOf({ index }: Choice): Extract<RequestUpdate, { type: 'echo' }> {
    const { prompt, echo } = this.#options;
    return { type: 'echo', requestId: this.requestId, index, text: echo ? prompt.text : '' };
  }

  /** The text since the choice's last chunk. @param isFirst Whether it is the request's first chunk, of any worker. */
  #chunkOf(choice: Choice, isFirst: boolean): ChunkUpdate {
    const { requestId, numPromptTokens } = this;
    this.#hasFirstToken = true;
    return {
      type: 'chunk',
      requestId,
      index: choice.index,
      ...choice.take(),
      tokenIds: [],
      ...(isFirst && { numPromptTokens, numCachedTokens: this.#numCachedTokens }),
    };
  }

  #toResult(): GenerationResult {
    const { requestId, numPromptTokens } = this;
    const { prompt, choices, scores } = this.#options;
    const results = choices.map((choice) => ({
      ...choice.toResult(prompt.text),
      ...(scores && { choiceProbabilities: scores.probabilities }),
    }));
    const [first] = results;
    if (!first) throw new Error(`Request ${requestId} has no choice.`);
    const lengths = choices.map(({ numOutputTokens }) => numOutputTokens);
    return {
      ...first,
      choices: results,
      usage: {
        numPromptTokens,
        numCachedTokens: this.#numCachedTokens,
        numOutputTokens: lengths.reduce((sum, length) => sum + length, 0),
      },
      timings: this.#wholeTimings(Math.max(...lengths)),
    };
  }

  /** Measured from the submission, at whichever worker, to the end of the last choice. */
  #wholeTimings(maxOutputTokens: number): RequestTimings {
    const { elapsedMs, resumption } = this.#options.submission;
    const queueWaitMs = this.#wholeQueueWaitMs;
    const ttftMs =
      resumption?.ttftMs ?? elapsedMs + Math.min(...this.#timings.map((timings) => timings.ttftMs));
    const e2eMs = elapsedMs + Math.max(...this.#timings.map((timings) => timings.e2eMs));
    const tpotMs = maxOutputTokens > 1 ? (e2eMs - ttftMs) / (maxOutputTokens - 1) : 0;
    return { queueWaitMs, ttftMs, e2eMs, tpotMs };
  }

  get #wholeQueueWaitMs(): number {
    const { elapsedMs, resumption } = this.#options.submission;
    return resumption?.queueWaitMs ?? this.#queueWaitMs + elapsedMs;
  }
}

/** It takes over the prompt from a row that may be given away. */
function asNext(request: GenerationRequest): GenerationRequest {
  return { ...request, isNext: true };
}

/** Merges the end of a choice with the chunk of its last token, if the same step brought it. */
function pushEnd(updates: RequestUpdate[], end: ChunkUpdate): void {
  const last = updates.at(-1);
  if (last?.type === 'chunk' && last.requestId === end.requestId && last.index === end.index) {
    const parts = [...(last.parts ?? []), ...(end.parts ?? [])];
    updates.splice(-1, 1, {
      ...last,
      ...end,
      text: last.text + end.text,
      ...(end.parts && { parts }),
      tokenIds: last.tokenIds,
    });
  } else {
    updates.push(end);
  }
}
