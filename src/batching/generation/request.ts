import { MAX_SEED } from './limits.ts';
import { OPTION_CHECKS, OPTION_DEFAULTS, pickSampling, type SamplingParams } from './options.ts';
import { integerIn, optional, parseOptions, type Validators } from './validate.ts';

/** Identity of one request, made by the client that submits it; unique over all tabs. */
export type RequestId = string & { readonly __brand: 'RequestId' };

/** Identity of one client (a tab, the bridge, an HTTP client behind the bridge): clients take turns. */
export type ClientId = string & { readonly __brand: 'ClientId' };

/** Always the likeliest token: nothing changes which one that is. */
export const GREEDY: SamplingParams = { ...pickSampling(OPTION_DEFAULTS), seed: 0 };

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

const SAMPLING_CHECKS: Validators<SamplingParams> = {
  ...pickSampling(OPTION_CHECKS),
  logprobs: optional(OPTION_CHECKS.logprobs),
  seed: integerIn({ from: 0, to: MAX_SEED }),
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
  optional(OPTION_CHECKS.promptLogprobs)('numPromptLogprobs', request.numPromptLogprobs);
  const maxResumed = Math.min(maxNewTokens, contextLength - promptTokenIds.length) - 1;
  integerIn({ from: 0, to: Math.max(0, maxResumed) })('resumedTokenIds.length', resumedTokenIds.length);
  OPTION_CHECKS.priority('priority', priority);
  parseOptions('sampling', SAMPLING_CHECKS, request.sampling);
}
