import type { RequestTimings } from '../../batching/generation/events.ts';
import type { MeasuredEvent } from '../../batching/metrics/generation-metrics.ts';
import { joinParts, type AnswerPart } from '../answers.ts';
import type { FinishReason, GenerationChoice, PromptTokenLogprobs, TokenLogprobs } from '../generation.ts';
import type { RequestUpdate, SubmittedRequest } from '../requests.ts';
import type { ServedModel } from '../models.ts';
import type { ResolvedOptions } from '../resolve-options.ts';
import { isEchoed } from './completion-body.ts';
import { readChunk, readLogprobs, type ChunkChoice, type CompletionChunk } from './completion-chunk.ts';
import { badAnswer, unreachable } from '../server-errors.ts';

export interface CompletionStreamOptions
  extends
    Pick<SubmittedRequest, 'requestId' | 'elapsedMs'>,
    Pick<ResolvedOptions, 'maxNewTokens' | 'n' | 'echo' | 'promptLogprobs' | 'tools'> {
  /** The server's address, for error messages. */
  readonly url: string;
  readonly model: ServedModel;
  /** Begins the result's text. Empty for a chat. */
  readonly prompt: string;
  readonly isChat: boolean;
  readonly seed: number;
  /** Number of alternatives for each output token; undefined for no logprobs. */
  readonly numLogprobs: number | undefined;
  /** On the same clock as all `nowMs`. */
  readonly receivedAtMs: number;
}

/** The meaning of one event of the server. */
export interface Received {
  readonly updates: readonly RequestUpdate[];
  readonly measured: readonly MeasuredEvent[];
}

interface StreamedChoice {
  text: string;
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[];
  promptLogprobs?: readonly PromptTokenLogprobs[];
  /** Chunks of a chat's answer. */
  readonly parts: AnswerPart[];
  /** Whether the prompt, which begins the answer, has not come yet. */
  awaitsPrompt: boolean;
  finishReason?: FinishReason;
  /** Counts pieces of text if the server sends no token IDs. */
  numTokens: number;
  lastAtMs?: number;
}

/** A request that a server is answering. Turns server-sent events of its API into updates. */
export class CompletionStream {
  readonly #options: CompletionStreamOptions;
  readonly #choices: readonly StreamedChoice[];
  #queueWaitMs: number | undefined;
  #firstAtMs: number | undefined;
  #usage: CompletionChunk['usage'];
  #isDone = false;

  constructor(options: CompletionStreamOptions) {
    this.#options = options;
    this.#choices = Array.from({ length: options.n }, () => ({
      text: '',
      tokenIds: [],
      logprobs: [],
      parts: [],
      awaitsPrompt: isEchoed(options),
      numTokens: 0,
    }));
  }

  get isStarted(): boolean {
    return this.#queueWaitMs !== undefined;
  }

  /** 0 if the server has not sent it. */
  get numPromptTokens(): number {
    return this.#usage?.prompt_tokens ?? 0;
  }

  /** The server has taken the request. */
  start(nowMs: number): Received {
    const { requestId, model, prompt, echo, promptLogprobs } = this.#options;
    const queueWaitMs = this.#sinceSubmission(nowMs);
    this.#queueWaitMs = queueWaitMs;
    const echoed = echo && promptLogprobs === undefined ? this.#choices : [];
    return {
      updates: [
        { type: 'started', requestId, queueWaitMs, model },
        ...echoed.map((_, index) => ({ type: 'echo', requestId, index, text: prompt }) as const),
      ],
      measured: [{ type: 'started', queueWaitMs, numPrefillTokens: 0, numReusedTokens: 0 }],
    };
  }

  /** @throws ServerError, BackPressureError for an error in the stream, or an event that is not a completion. */
  push(data: string, nowMs: number): Received {
    this.#isDone = data === '[DONE]';
    if (this.#isDone) return { updates: [], measured: [] };
    const { url, isChat } = this.#options;
    const { choices, usage } = readChunk(url, data, isChat);
    this.#usage = usage ?? this.#usage;
    const received = choices.map((choice) => this.#receive(choice, nowMs));
    return {
      updates: received.flatMap(({ updates }) => updates),
      measured: received.flatMap(({ measured }) => measured),
    };
  }

  /** Ends the answer. @throws ServerError if the answer is incomplete. */
  end(nowMs: number): Received {
    const { requestId, maxNewTokens } = this.#options;
    const choices = this.#choices.map((choice) => this.#toResult(choice));
    const [first] = choices;
    if (!first) throw new Error(`Request ${requestId} has no choice.`);
    const numCounted = this.#choices.reduce((sum, { numTokens }) => sum + numTokens, 0);
    const numOutputTokens = maxNewTokens === 0 ? 0 : (this.#usage?.completion_tokens ?? numCounted);
    const numCachedTokens = this.#usage?.prompt_tokens_details?.cached_tokens ?? 0;
    const usage = { numPromptTokens: this.numPromptTokens, numCachedTokens, numOutputTokens };
    const timings = this.#timings(nowMs);
    return {
      updates: [{ type: 'finished', requestId, result: { ...first, choices, usage, timings } }],
      measured: choices.map(({ finishReason }) => ({
        type: 'finished',
        finishReason: finishReason === 'length' ? 'length' : 'stop',
        timings,
      })),
    };
  }

  #receive(given: ChunkChoice, nowMs: number): Received {
    const choice = this.#choices[given.index];
    if (!choice) throw this.#badAnswer(`choice ${given.index} of a request for ${this.#choices.length}`);
    const updates: RequestUpdate[] = [];
    const rest = choice.awaitsPrompt ? this.#takePrompt(choice, given, updates) : given;
    const numTokens = rest.token_ids?.length || Number(rest.text !== '' || rest.parts.length > 0);
    updates.push(this.#add(choice, rest, numTokens > 0, nowMs));
    return { updates, measured: this.#measure(choice, numTokens, nowMs) };
  }

  /** Removes the prompt and its logprobs from the piece that begins with them. Returns the remainder. */
  #takePrompt(choice: StreamedChoice, given: ChunkChoice, updates: RequestUpdate[]): ChunkChoice {
    const { url, requestId, prompt, echo, promptLogprobs: numLogprobs, maxNewTokens } = this.#options;
    choice.awaitsPrompt = false;
    if (!given.text.startsWith(prompt)) throw this.#badAnswer('the echo of another prompt');
    const rest = { ...given, text: given.text.slice(prompt.length) };
    // vLLM samples a token even if none is requested, and does not show it.
    if (maxNewTokens === 0) rest.token_ids = [];
    if (numLogprobs === undefined) return rest;
    const { index, logprobs } = given;
    const length = this.numPromptTokens || (maxNewTokens === 0 ? logprobs?.length : undefined);
    if (!logprobs || length === undefined || logprobs.length < length)
      throw this.#badAnswer('an echo without the logprobs of the prompt');
    const promptLogprobs = readLogprobs(url, logprobs.slice(0, length), numLogprobs).map((entry, place) =>
      place === 0 ? { ...entry, logprob: null, top: [] } : entry,
    );
    choice.promptLogprobs = promptLogprobs;
    updates.push({ type: 'echo', requestId, index, text: echo ? prompt : '', promptLogprobs });
    return { ...rest, logprobs: logprobs.slice(length) };
  }

  #add(
    choice: StreamedChoice,
    { index, text, finish_reason: reason, token_ids: ids, logprobs: given, parts }: ChunkChoice,
    hasTokens: boolean,
    nowMs: number,
  ): RequestUpdate {
    const { url, requestId, numLogprobs } = this.#options;
    const tokenIds = ids ?? [];
    const logprobs = given && numLogprobs !== undefined ? readLogprobs(url, given, numLogprobs) : [];
    const finishReason = finishReasonOf(reason);
    choice.text += text;
    choice.tokenIds.push(...tokenIds);
    choice.logprobs.push(...logprobs);
    if (finishReason) choice.finishReason = finishReason;
    choice.parts.push(...parts);
    const isFirst = this.#firstAtMs === undefined && hasTokens;
    if (isFirst) this.#firstAtMs = nowMs;
    return {
      type: 'chunk',
      requestId,
      index,
      text,
      tokenIds,
      ...(this.#hasParts(choice) && { parts }),
      ...(numLogprobs !== undefined && { logprobs }),
      ...(isFirst && { ttftMs: this.#sinceSubmission(nowMs) }),
      ...(isFirst && this.#usage && { numPromptTokens: this.numPromptTokens }),
      ...(finishReason && { finishReason }),
    };
  }

  /** Thinking comes first, so no content before it lacks its part. */
  #hasParts({ parts }: StreamedChoice): boolean {
    return this.#options.tools.length > 0 || parts[0]?.type === 'reasoning';
  }

  /** Tokens that come together share the time since those before them. */
  #measure(choice: StreamedChoice, numTokens: number, nowMs: number): readonly MeasuredEvent[] {
    if (numTokens === 0) return [];
    const { lastAtMs } = choice;
    choice.numTokens += numTokens;
    choice.lastAtMs = nowMs;
    const itlMs = lastAtMs === undefined ? 0 : (nowMs - lastAtMs) / numTokens;
    return Array.from({ length: numTokens }, (_, place) =>
      lastAtMs === undefined && place === 0
        ? ({ type: 'token', ttftMs: this.#sinceSubmission(nowMs) } as const)
        : ({ type: 'token', itlMs } as const),
    );
  }

  #toResult(choice: StreamedChoice): GenerationChoice {
    const { text, tokenIds, logprobs, promptLogprobs, parts, finishReason } = choice;
    const { prompt, seed, numLogprobs } = this.#options;
    if (!finishReason) throw this.#incomplete();
    return {
      text: prompt + text,
      generatedText: text,
      tokenIds,
      ...(numLogprobs !== undefined && { logprobs }),
      ...(promptLogprobs && { promptLogprobs }),
      ...(this.#hasParts(choice) && { answer: joinParts(parts) }),
      finishReason,
      seed,
    };
  }

  /** A proxy that stops closes an answer as if it were complete. */
  #incomplete(): Error {
    if (this.#isDone) return this.#badAnswer('a text that ends without a finish reason');
    return unreachable(this.#options.url, 'its answer ends in the middle of a text');
  }

  #timings(nowMs: number): RequestTimings {
    const e2eMs = this.#sinceSubmission(nowMs);
    const ttftMs = this.#firstAtMs === undefined ? e2eMs : this.#sinceSubmission(this.#firstAtMs);
    const longest = Math.max(...this.#choices.map(({ numTokens }) => numTokens));
    const tpotMs = longest > 1 ? (e2eMs - ttftMs) / (longest - 1) : 0;
    return { queueWaitMs: this.#queueWaitMs ?? e2eMs, ttftMs, e2eMs, tpotMs };
  }

  #sinceSubmission(nowMs: number): number {
    return nowMs - this.#options.receivedAtMs + this.#options.elapsedMs;
  }

  #badAnswer(what: string): Error {
    return badAnswer(this.#options.url, `with ${what}`);
  }
}

/** A server's own reason, such as that of a content filter, counts as `stop`. */
function finishReasonOf(reason: string | null | undefined): FinishReason | undefined {
  if (reason === null || reason === undefined) return undefined;
  return reason === 'length' ? 'length' : 'stop';
}
