import * as v from 'valibot';

import type { RequestTimings } from '../../../batching/generation/events.ts';
import type { MeasuredEvent } from '../../../batching/metrics/generation-metrics.ts';
import type {
  FinishReason,
  GenerationChoice,
  GenerationResult,
  RequestId,
  RequestUpdate,
  PromptTokenLogprobs,
  ServedModel,
  TokenLogprobs,
} from '../../protocol/protocol.ts';
import { badAnswer, parseJson, toStreamError } from './upstream-failure.ts';

export interface CompletionStreamOptions {
  /** Of the upstream, for messages. */
  readonly url: string;
  readonly requestId: RequestId;
  readonly model: ServedModel;
  readonly prompt: string;
  readonly n: number;
  readonly seed: number;
  readonly echo: boolean;
  /** Of the likeliest tokens; undefined = no logprobs at all. */
  readonly numLogprobs: number | undefined;
  /** As `numLogprobs`, of the prompt: it comes with the first piece of each choice, as does its text. */
  readonly promptLogprobs: number | undefined;
  /** Whether each choice's first piece begins with the prompt. */
  readonly isEchoed: boolean;
  readonly maxNewTokens: number;
  /** Submitted -> received here, ms. */
  readonly elapsedMs: number;
  /** On the clock that all other times are of. */
  readonly receivedAtMs: number;
}

/** What one event of the upstream came to. */
export interface Received {
  readonly updates: readonly RequestUpdate[];
  readonly measured: readonly MeasuredEvent[];
}

interface Choice {
  text: string;
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[];
  promptLogprobs: readonly PromptTokenLogprobs[] | undefined;
  /** The prompt, which it begins with, is still to come. */
  awaitsPrompt: boolean;
  finishReason: FinishReason | undefined;
  /** As far as it can be told: a server without ids tells pieces of text. */
  numTokens: number;
  lastAtMs: number | undefined;
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const completionLogprobs = v.object({
  tokens: v.array(v.string()),
  token_logprobs: v.array(v.nullable(v.number())),
  top_logprobs: v.optional(v.nullable(v.array(v.nullable(v.record(v.string(), v.number()))))),
});

const streamChoice = v.object({
  index: count,
  text: v.string(),
  finish_reason: v.optional(v.nullable(v.string())),
  token_ids: v.optional(v.nullable(v.array(count))),
  logprobs: v.optional(v.nullable(completionLogprobs)),
});

const completionChunk = v.object({
  choices: v.array(streamChoice),
  usage: v.optional(v.nullable(v.object({ prompt_tokens: count, completion_tokens: v.optional(count) }))),
});

type StreamChoice = v.InferOutput<typeof streamChoice>;
type CompletionLogprobs = v.InferOutput<typeof completionLogprobs>;

const NO_MEASURES: readonly MeasuredEvent[] = [];

/** A request while an upstream answers it: server-sent events of `/v1/completions` go in, updates come out. */
export class CompletionStream {
  readonly #options: CompletionStreamOptions;
  readonly #choices: readonly Choice[];
  #queueWaitMs: number | undefined;
  #firstAtMs: number | undefined;
  #usage: { readonly prompt_tokens: number; readonly completion_tokens?: number | undefined } | undefined;

  constructor(options: CompletionStreamOptions) {
    this.#options = options;
    this.#choices = Array.from({ length: options.n }, () => ({
      text: '',
      tokenIds: [],
      logprobs: [],
      promptLogprobs: undefined,
      awaitsPrompt: options.isEchoed,
      finishReason: undefined,
      numTokens: 0,
      lastAtMs: undefined,
    }));
  }

  get isStarted(): boolean {
    return this.#queueWaitMs !== undefined;
  }

  /** Of the whole prompt; 0 where the upstream has not told. */
  get numPromptTokens(): number {
    return this.#usage?.prompt_tokens ?? 0;
  }

  /** The upstream has taken the request. */
  start(nowMs: number): Received {
    const { requestId, model, prompt, echo, n, promptLogprobs } = this.#options;
    const queueWaitMs = this.#sinceSubmission(nowMs);
    this.#queueWaitMs = queueWaitMs;
    const isEchoNow = echo && promptLogprobs === undefined;
    const indices = Array.from({ length: isEchoNow ? n : 0 }, (_, index) => index);
    return {
      updates: [
        { type: 'started', requestId, queueWaitMs, model },
        ...indices.map((index) => ({ type: 'echo', requestId, index, text: prompt }) as const),
      ],
      measured: [{ type: 'started', queueWaitMs, numPrefillTokens: 0, numReusedTokens: 0 }],
    };
  }

  /** @throws UpstreamError, BackPressureError for an error in the stream, or what is no completion. */
  push(data: string, nowMs: number): Received {
    const { url } = this.#options;
    if (data === '[DONE]') return { updates: [], measured: NO_MEASURES };
    const parsed = v.safeParse(completionChunk, parseJson(data));
    if (!parsed.success) throw toStreamError(url, data) ?? badAnswer(url, 'an event that is no completion');
    this.#usage = parsed.output.usage ?? this.#usage;
    const received = parsed.output.choices.map((choice) => this.#receive(choice, nowMs));
    return {
      updates: received.flatMap(({ updates }) => updates),
      measured: received.flatMap(({ measured }) => measured),
    };
  }

  /** The answer is over. @throws UpstreamError where it is not whole. */
  end(nowMs: number): Received {
    const { requestId } = this.#options;
    const timings = this.#timings(nowMs);
    const result = this.#toResult(timings);
    return {
      updates: [{ type: 'finished', requestId, result }],
      measured: result.choices.map(({ finishReason }) => ({
        type: 'finished',
        finishReason: finishReason === 'length' ? 'length' : 'stop',
        timings,
      })),
    };
  }

  #receive(given: StreamChoice, nowMs: number): Received {
    const { url } = this.#options;
    const choice = this.#choices[given.index];
    if (!choice) throw badAnswer(url, `choice ${given.index} of a request for ${this.#choices.length}`);
    if (!choice.awaitsPrompt) return this.#add(choice, given, nowMs);
    choice.awaitsPrompt = false;
    const { prompt, rest } = this.#splitPrompt(choice, given);
    const received = this.#add(choice, rest, nowMs);
    return { ...received, updates: [...prompt, ...received.updates] };
  }

  /** Takes the prompt, and its logprobs, off the piece that begins with them. */
  #splitPrompt(
    choice: Choice,
    given: StreamChoice,
  ): { readonly prompt: readonly RequestUpdate[]; readonly rest: StreamChoice } {
    const { url, requestId, prompt, echo, promptLogprobs: numLogprobs, maxNewTokens } = this.#options;
    if (!given.text.startsWith(prompt)) throw badAnswer(url, 'an echo of another prompt');
    const rest = { ...given, text: given.text.slice(prompt.length) };
    // A vLLM samples a token all the same, and does not show it.
    if (maxNewTokens === 0) rest.token_ids = [];
    if (numLogprobs === undefined) return { prompt: [], rest };
    const { logprobs } = given;
    const length = this.numPromptTokens || (maxNewTokens === 0 ? logprobs?.tokens.length : undefined);
    if (!logprobs || length === undefined || logprobs.tokens.length < length)
      throw badAnswer(url, 'an echo without the logprobs of the prompt');
    const promptLogprobs = this.#promptLogprobsOf(slicedLogprobs(logprobs, 0, length), numLogprobs);
    choice.promptLogprobs = promptLogprobs;
    const text = echo ? prompt : '';
    return {
      prompt: [{ type: 'echo', requestId, index: given.index, text, promptLogprobs }],
      rest: { ...rest, logprobs: slicedLogprobs(logprobs, length) },
    };
  }

  #promptLogprobsOf(given: CompletionLogprobs, numLogprobs: number): readonly PromptTokenLogprobs[] {
    return this.#readLogprobs(given, numLogprobs).map((entry, place) =>
      place === 0 ? { tokenId: entry.tokenId, logprob: null, top: [] } : entry,
    );
  }

  #add(
    choice: Choice,
    { index, text, finish_reason: reason, ...rest }: StreamChoice,
    nowMs: number,
  ): Received {
    const { requestId } = this.#options;
    const tokenIds = rest.token_ids ?? [];
    const logprobs = this.#logprobsOf(rest.logprobs);
    const finishReason = finishReasonOf(reason);
    choice.text += text;
    choice.tokenIds.push(...tokenIds);
    choice.logprobs.push(...logprobs);
    choice.finishReason = finishReason ?? choice.finishReason;
    const isFirst = this.#firstAtMs === undefined && (text !== '' || tokenIds.length > 0);
    if (isFirst) this.#firstAtMs = nowMs;
    const update: RequestUpdate = {
      type: 'chunk',
      requestId,
      index,
      text,
      tokenIds,
      ...(this.#options.numLogprobs !== undefined && { logprobs }),
      ...(isFirst && { ttftMs: this.#sinceSubmission(nowMs) }),
      ...(isFirst && this.#usage && { numPromptTokens: this.numPromptTokens }),
      ...(finishReason && { finishReason }),
    };
    return {
      updates: [update],
      measured: this.#measure(choice, tokenIds.length || Number(text !== ''), nowMs),
    };
  }

  /** Tokens that come together share the time since those before them. */
  #measure(choice: Choice, numTokens: number, nowMs: number): readonly MeasuredEvent[] {
    if (numTokens === 0) return NO_MEASURES;
    const { lastAtMs } = choice;
    choice.numTokens += numTokens;
    choice.lastAtMs = nowMs;
    const gapMs = lastAtMs === undefined ? 0 : (nowMs - lastAtMs) / numTokens;
    return Array.from({ length: numTokens }, (_, place) =>
      lastAtMs === undefined && place === 0
        ? ({ type: 'token', ttftMs: this.#sinceSubmission(nowMs) } as const)
        : ({ type: 'token', itlMs: gapMs } as const),
    );
  }

  #logprobsOf(given: StreamChoice['logprobs']): readonly TokenLogprobs[] {
    const { numLogprobs } = this.#options;
    return numLogprobs === undefined || !given ? [] : this.#readLogprobs(given, numLogprobs);
  }

  #readLogprobs(given: CompletionLogprobs, numLogprobs: number): readonly TokenLogprobs[] {
    return given.tokens.map((token, place) => ({
      tokenId: this.#idOf(token),
      logprob: given.token_logprobs[place] ?? -Infinity,
      // A vLLM adds the sampled token where it is not among them.
      top: Object.entries(given.top_logprobs?.[place] ?? {})
        .map(([name, logprob]) => ({ tokenId: this.#idOf(name), logprob }))
        .toSorted((a, b) => b.logprob - a.logprob)
        .slice(0, numLogprobs),
    }));
  }

  /** Of a token that stands for its id, as vLLM writes it on request. */
  #idOf(token: string): number {
    const [, id] = /^token_id:(\d+)$/.exec(token) ?? [];
    if (id === undefined)
      throw badAnswer(this.#options.url, 'logprobs of tokens without ids, as vLLM sends them');
    return Number(id);
  }

  #toResult(timings: RequestTimings): GenerationResult {
    const { url, prompt, seed, numLogprobs, maxNewTokens } = this.#options;
    const choices = this.#choices.map((choice): GenerationChoice => {
      const { text, tokenIds, logprobs, promptLogprobs, finishReason } = choice;
      if (!finishReason) throw badAnswer(url, 'a text that breaks off without a reason');
      return {
        text: prompt + text,
        generatedText: text,
        tokenIds,
        ...(numLogprobs !== undefined && { logprobs }),
        ...(promptLogprobs && { promptLogprobs }),
        finishReason,
        seed,
      };
    });
    const [first] = choices;
    if (!first) throw new Error('A request without a choice');
    const counted = this.#choices.reduce((sum, { numTokens }) => sum + numTokens, 0);
    const numOutputTokens = maxNewTokens === 0 ? 0 : (this.#usage?.completion_tokens ?? counted);
    return { ...first, choices, usage: { numPromptTokens: this.numPromptTokens, numOutputTokens }, timings };
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
}

function slicedLogprobs(
  { tokens, token_logprobs: logprobs, top_logprobs: top }: CompletionLogprobs,
  start: number,
  end?: number,
): CompletionLogprobs {
  return {
    tokens: tokens.slice(start, end),
    token_logprobs: logprobs.slice(start, end),
    top_logprobs: top?.slice(start, end),
  };
}

/** What is neither has a reason of the server's own, a filter say: it ends the text all the same. */
function finishReasonOf(reason: string | null | undefined): FinishReason | undefined {
  if (reason === null || reason === undefined) return undefined;
  return reason === 'length' ? 'length' : 'stop';
}
