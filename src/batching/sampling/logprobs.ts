import { compareLikelihood, topK, at } from './top-k.ts';
import { LARGEST_WEIGHT, sharpnessOf, weightOf } from './token-weights.ts';

/** A token and the natural logarithm of its probability. */
export interface TokenLogprob {
  /** Index in the model's vocabulary. */
  readonly tokenId: number;
  /** At most 0. */
  readonly logprob: number;
}

/** An output token among its alternatives. The probabilities are the model's own: the softmax of its raw logits. */
export interface TokenLogprobs extends TokenLogprob {
  /** The likeliest tokens, as many as requested, the likeliest first. The output token may be among them. */
  readonly top: readonly TokenLogprob[];
}

/** A prompt token among its alternatives. The first token has no logits before it, so its logprob is null. */
export interface PromptTokenLogprobs {
  /** Index in the model's vocabulary. */
  readonly tokenId: number;
  /** Given the tokens before it; null for the first one. */
  readonly logprob: number | null;
  /** The likeliest tokens in its place, the likeliest first; empty for the first token. */
  readonly top: readonly TokenLogprob[];
}

/** Normalizes logits into logprobs. */
export interface SoftmaxScale {
  readonly largestLogit: number;
  /** Sum of the weights at temperature 1. */
  readonly totalWeight: number;
}

export const UNIT_SHARPNESS = sharpnessOf(1);

export function logprobOf(logit: number, { largestLogit, totalWeight }: SoftmaxScale): number {
  return logit - largestLogit - Math.log(totalWeight / LARGEST_WEIGHT);
}

/** The error of logits without a softmax: one is NaN or +Infinity, or all are -Infinity. */
export function checkLogits(logits: Float32Array): RangeError | undefined {
  let largest = -Infinity;
  for (let id = 0; id < logits.length; id += 1) {
    const logit = at(logits, id);
    if (!(logit < Infinity))
      return new RangeError(`Expected the logit of token ${id} to be finite, got ${logit}`);
    if (logit > largest) largest = logit;
  }
  return largest === -Infinity ? noFiniteLogit() : undefined;
}

export function noFiniteLogit(): RangeError {
  return new RangeError('Expected a finite logit, got -Infinity for every token');
}

/** @param scratch Room for one id per logit. */
export function logprobsOf(
  logits: Float32Array,
  tokenId: number,
  numLogprobs: number,
  scratch: Int32Array,
): TokenLogprobs {
  const scale = softmaxScale(logits);
  const ofToken = (id: number): TokenLogprob => ({
    tokenId: id,
    logprob: logprobOf(at(logits, id), scale),
  });
  const top = numLogprobs === 0 ? [] : topK(logits, numLogprobs, scratch);
  return { ...ofToken(tokenId), top: Array.from(top.toSorted(compareLikelihood(logits)), ofToken) };
}

function softmaxScale(logits: Float32Array): SoftmaxScale {
  let largestLogit = -Infinity;
  for (const logit of logits) if (logit > largestLogit) largestLogit = logit;
  let totalWeight = 0;
  for (const logit of logits) totalWeight += weightOf(logit, largestLogit, UNIT_SHARPNESS);
  return { largestLogit, totalWeight };
}
