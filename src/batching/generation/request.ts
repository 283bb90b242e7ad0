import { logitBiasWithin, type LogitBias } from '../sampling/logit-bias.ts';
import { finiteIn, integerIn, optional, parseOptions, type Validators } from './validate.ts';

/** Identity of one request, made by the client that submits it; unique over all tabs. */
export type RequestId = string & { readonly __brand: 'RequestId' };

/** Identity of one client (a tab, the bridge, an HTTP client behind the bridge): clients take turns. */
export type ClientId = string & { readonly __brand: 'ClientId' };

/** How the next token is chosen. All fields are required here: defaults belong to the caller's side. */
export interface SamplingParams {
  /** 0 = greedy; otherwise logits are divided by it. Finite, >= 0. */
  readonly temperature: number;
  /** Keep the k most likely tokens; 0 = all. Integer >= 0. */
  readonly topK: number;
  /** Keep the smallest set of most likely tokens whose probability reaches p. In (0, 1]. */
  readonly topP: number;
  /** Keep tokens at least this fraction as likely as the likeliest; 0 = all. In [0, 1]. */
  readonly minP: number;
  /**
   * Logits of tokens that prompt or output hold are divided by it where positive, else multiplied; 1 = off.
   * From 0.01 to 100.
   */
  readonly repetitionPenalty: number;
  /** Subtracted from the logits of tokens that the output holds; 0 = off. In [-2, 2]. */
  readonly presencePenalty: number;
  /** Subtracted from a token's logit once for each time that the output holds it; 0 = off. In [-2, 2]. */
  readonly frequencyPenalty: number;
  /** Added to the logits of single tokens, by id; empty = off. */
  readonly logitBias: LogitBias;
  /** Logprobs of each output token and of this many of the likeliest, 0 to 20; undefined = none at all. */
  readonly numLogprobs: number | undefined;
  /** Randomness is `uniform(seed, position)`. Unsigned 32-bit integer. */
  readonly seed: number;
}

/** The likeliest token each time, and nothing that changes which one that is. */
export const GREEDY: SamplingParams = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: {},
  numLogprobs: undefined,
  seed: 0,
};

/** One prompt to be continued. */
export interface GenerationRequest {
  readonly id: RequestId;
  readonly clientId: ClientId;
  /** See `TurnOwner`. */
  readonly turn?: readonly string[];
  /** At least one id, and fewer than the context length; with `maxNewTokens` 0 as many as the context length. */
  readonly promptTokenIds: readonly number[];
  /**
   * Tokens that a lost engine has generated. They are prefilled after the prompt and count as output. Fewer than
   * `maxNewTokens`, and with the prompt fewer than the context length.
   */
  readonly resumedTokenIds?: readonly number[];
  /**
   * The most tokens to generate; the context length may end a sequence earlier. Integer >= 0: with 0 the prompt is computed
   * and nothing is sampled.
   */
  readonly maxNewTokens: number;
  /**
   * No end token and none of `stopTokenIds` is sampled before there are this many output tokens. Integer from 0 to
   * `maxNewTokens`; 0 if left out.
   */
  readonly minNewTokens?: number;
  /** Whether the model's end tokens are tokens like any other. */
  readonly ignoresEndTokens?: boolean;
  /** Tokens that end the sequence with `stop`, besides the model's end tokens. */
  readonly stopTokenIds?: readonly number[];
  /** Whether a stop token is the last token of the output; otherwise it is no part of it, like an end token. */
  readonly keepsStopToken?: boolean;
  /** Logprobs of each prompt token and of this many of the likeliest, 0 to 20; undefined = the prompt is not scored. */
  readonly numPromptLogprobs?: number | undefined;
  /**
   * Called after each step with the new output token, before the next step is scheduled: true ends the sequence after it
   * with `stop`. A throw fails only this sequence, with `StopConditionError`.
   */
  readonly stopsAfter?: (tokenId: number) => boolean;
  /** Lower starts first; equals take turns. Integer from -100 to 100; 0 if left out. */
  readonly priority?: number;
  readonly sampling: SamplingParams;
}

/** `stop`: an end token, a stop token or `stopsAfter`; `length`: `maxNewTokens` or the context is used up. */
export type FinishReason = 'stop' | 'length' | 'abort' | 'error';

/** Alternatives that can be had with each token. */
export const MAX_LOGPROBS = 20;

const NUM_LOGPROBS = integerIn({ from: 0, to: MAX_LOGPROBS });

/** A class of its own for each value: few enough to keep the queue fast. */
export const PRIORITY_VALIDATOR = integerIn({ from: -100, to: 100 });

/**
 * What each sampling parameter may be; options that come from outside are checked with the same table, and biases
 * against the vocabulary besides.
 */
export const SAMPLING_VALIDATORS: Validators<SamplingParams> = {
  temperature: finiteIn({ from: 0 }),
  topK: integerIn({ from: 0 }),
  topP: finiteIn({ above: 0, to: 1 }),
  minP: finiteIn({ from: 0, to: 1 }),
  repetitionPenalty: finiteIn({ from: 0.01, to: 100 }),
  presencePenalty: finiteIn({ from: -2, to: 2 }),
  frequencyPenalty: finiteIn({ from: -2, to: 2 }),
  logitBias: logitBiasWithin(Infinity),
  numLogprobs: optional(NUM_LOGPROBS),
  seed: integerIn({ from: 0, to: 2 ** 32 - 1 }),
};

/** Throws `InvalidOptionError` for a request that can never run to its end. */
export function checkRequest(request: GenerationRequest, contextLength: number): void {
  const { promptTokenIds, resumedTokenIds = [], maxNewTokens, priority = 0 } = request;
  const { minNewTokens = 0, stopTokenIds = [] } = request;
  integerIn({ from: 0 })('maxNewTokens', maxNewTokens);
  const maxPrompt = contextLength - Math.min(1, maxNewTokens);
  integerIn({ from: 1, to: maxPrompt })('promptTokenIds.length', promptTokenIds.length);
  integerIn({ from: 0, to: maxNewTokens })('minNewTokens', minNewTokens);
  for (const tokenId of stopTokenIds) integerIn({ from: 0 })('stopTokenIds', tokenId);
  optional(NUM_LOGPROBS)('numPromptLogprobs', request.numPromptLogprobs);
  const maxResumed = Math.min(maxNewTokens, contextLength - promptTokenIds.length) - 1;
  integerIn({ from: 0, to: Math.max(0, maxResumed) })('resumedTokenIds.length', resumedTokenIds.length);
  PRIORITY_VALIDATOR('priority', priority);
  parseOptions('sampling', SAMPLING_VALIDATORS, request.sampling);
}
