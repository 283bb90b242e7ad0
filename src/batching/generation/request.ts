import { pickSampling, type SamplingParams } from '../options/sampling-options.ts';
import type { TokenMask } from '../sampling/token-mask.ts';
import { OPTION_DEFAULTS, type ResolvedGenerationOptions } from '../options/generation-options.ts';
import type { Queued } from '../queue/request-queue.ts';
import { integerIn } from '../base/validate.ts';

/** Always the likeliest token: nothing changes which one that is. */
export const GREEDY: SamplingParams = { ...pickSampling(OPTION_DEFAULTS), seed: 0 };

type EndOptionName = 'ignoreEos' | 'stopTokenIds' | 'includeStopStrInOutput';

/** Restricts the output of one sequence, which it follows token by token. */
export interface TokenConstraint {
  /**
   * Called with each new output token in turn, before another step is scheduled: true ends the sequence after it with `stop`. A
   * throw or a rejection fails only this sequence.
   */
  accept(tokenId: number): boolean | Promise<boolean>;
  /**
   * The tokens that may come next; undefined for all. A constraint that never restricts them leaves it out, so that no sampling
   * waits for it. Doesn't throw.
   */
  readonly mask?: () => TokenMask | undefined;
  /** The only tokens that can come next, in order: several are computed in one pass. The mask allows the first alone. */
  readonly forced?: () => readonly number[];
  /** Looks ahead of the text. Left out, or undefined, where no token but the next one can be known to be allowed. */
  readonly ahead?: () => Lookahead | undefined;
}

/** A place in the text of a constraint: its end, or behind tokens that are guessed to follow. */
export interface Lookahead {
  /** The tokens that may come next; undefined for all. */
  readonly mask: TokenMask | undefined;
  /** The only one of them; undefined if there are several, or it isn't known to be the only one. */
  readonly forced: number | undefined;
  /** Behind a token that may come next. Undefined where the text ends with it, or takes long to follow. */
  readonly after: (tokenId: number) => Lookahead | undefined;
}

/** One prompt to be continued, once. Options that are left out are off. */
export interface GenerationRequest
  extends
    Omit<Queued, 'priority'>,
    Pick<ResolvedGenerationOptions, 'maxNewTokens'>,
    Partial<Pick<ResolvedGenerationOptions, EndOptionName | 'promptLogprobs' | 'priority'>> {
  /** See `TurnOwner`. While others wait, it is interrupted. It goes on later, from its tokens. */
  readonly isBackground?: boolean;
  /** At least one id, and fewer than the context length. With `maxNewTokens` 0, the prompt may fill the context. */
  readonly promptTokenIds: readonly number[];
  /**
   * Tokens that a lost engine has generated. They are prefilled after the prompt and count as output. Fewer than
   * `maxNewTokens`, and with the prompt fewer than the context length.
   */
  readonly resumedTokenIds?: readonly number[];
  readonly constraint?: TokenConstraint;
  /** The constraint gives each token, and only its logprob is wanted: tokens are reported as `token-scored`, and are no output. */
  readonly isScore?: boolean;
  readonly sampling: SamplingParams;
}

/** Why a text ended. `stop`: an end token, a stop token or a stop string; `length`: `maxNewTokens` or the context is used up. */
export type FinishReason = 'stop' | 'length';

/** Why a sequence ended. `abort`: the caller cancelled it; `error`: it failed. Neither has a result. */
export type EndReason = FinishReason | 'abort' | 'error';

/** Throws `InvalidOptionError` for a request that can never finish. Callers have already checked its options. */
export function checkRequest(
  { promptTokenIds, resumedTokenIds = [], maxNewTokens }: GenerationRequest,
  contextLength: number,
): void {
  integerIn({ from: 0 })('maxNewTokens', maxNewTokens);
  const maxPrompt = contextLength - Math.min(1, maxNewTokens);
  integerIn({ from: 1, to: maxPrompt })('promptTokenIds.length', promptTokenIds.length);
  const maxResumed = Math.min(maxNewTokens, contextLength - promptTokenIds.length) - 1;
  integerIn({ from: 0, to: Math.max(0, maxResumed) })('resumedTokenIds.length', resumedTokenIds.length);
}

/**
 * Lowers `maxNewTokens` to what the context length leaves. A request that was accepted under a higher limit gets one more
 * token at least.
 */
export function limitOutput(request: GenerationRequest, contextLength: number): GenerationRequest {
  const { promptTokenIds, resumedTokenIds = [], maxNewTokens } = request;
  const room = Math.max(contextLength - promptTokenIds.length, resumedTokenIds.length + 1);
  return room < maxNewTokens ? { ...request, maxNewTokens: room } : request;
}
