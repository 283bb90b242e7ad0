import { adjustLogits, isAdjusting, type TokenCounts } from './adjust-logits.ts';
import { checkLogits, logprobsOf, noFiniteLogit, type TokenLogprobs } from './logprobs.ts';
import { uniform } from './random.ts';
import type { SamplingParams } from '../options/sampling-options.ts';
import { shareOf, sharpnessOf, smallestWeightFor, weightOf } from './token-weights.ts';
import { maskLogits, type TokenMask } from './token-mask.ts';
import { at, compareLikelihood, topK } from './top-k.ts';

/** Besides the logits, the next token of a sequence depends on nothing but this. */
export interface SamplingContext {
  readonly params: SamplingParams;
  /** The position of the token to be sampled in its sequence. */
  readonly position: number;
  readonly tokenCounts: TokenCounts;
  /** Undefined if every token may be sampled. */
  readonly mask?: TokenMask | undefined;
}

export interface SampledToken {
  readonly tokenId: number;
  /** Undefined unless requested. */
  readonly logprobs: TokenLogprobs | undefined;
}

/**
 * The next token, given the logits of the token before it. Throws `RangeError` if a logit is NaN or +Infinity, or if all
 * are -Infinity or masked: that row alone has no next token.
 */
export type SampleToken = (logits: Float32Array, context: SamplingContext) => SampledToken;

/**
 * The CPU path of sampling, and the reference for the GPU path, which draws the same token for the same seed. The order
 * is vLLM's (`v1/sample/sampler.py`): mask; logit bias; repetition, frequency and presence penalty; the likeliest if greedy;
 * temperature; min-p; top-k; top-p. Of equal logits the lower id counts as the likelier. The draw walks the kept
 * tokens in order of id, so it needs no sorted probabilities.
 *
 * The sampler owns scratch memory for one vocabulary. A greedy row without logprobs allocates nothing.
 */
export function createSampler(vocabSize: number): SampleToken {
  const scratch: Scratch = {
    logits: new Float32Array(vocabSize),
    weights: new Float64Array(vocabSize),
    ids: new Int32Array(vocabSize),
  };
  return (logits, context) => {
    if (logits.length !== vocabSize) {
      throw new RangeError(
        `Expected ${vocabSize} logits, one per token of the vocabulary, got ${logits.length}`,
      );
    }
    const fault = checkLogits(logits);
    if (fault) throw fault;
    const tokenId = chooseToken(adjusted(logits, context, scratch.logits), context, scratch);
    const numLogprobs = context.params.logprobs;
    const logprobs =
      numLogprobs === undefined ? undefined : logprobsOf(logits, tokenId, numLogprobs, scratch.ids);
    return { tokenId, logprobs };
  };
}

/** One entry per token of the vocabulary, overwritten for each row. */
interface Scratch {
  readonly logits: Float32Array;
  readonly weights: Float64Array;
  readonly ids: Int32Array;
}

/** The logits after mask, bias and penalties: themselves if nothing changes them, else `scratch`. */
function adjusted(
  logits: Float32Array,
  { params, tokenCounts, mask }: SamplingContext,
  scratch: Float32Array,
): Float32Array {
  if (!isAdjusting(params) && !mask) return logits;
  scratch.set(logits);
  if (mask) maskLogits(scratch, mask);
  adjustLogits(scratch, params, tokenCounts);
  return scratch;
}

function chooseToken(
  logits: Float32Array,
  { params, position }: SamplingContext,
  { weights, ids }: Scratch,
): number {
  const likeliest = findLikeliest(logits);
  if (at(logits, likeliest) === -Infinity) throw noFiniteLogit();
  if (params.temperature === 0) return likeliest;
  const candidates = topK(logits, params.topK || logits.length, ids);
  weigh(logits, candidates, at(logits, likeliest), params, weights);
  const kept = params.topP < 1 ? keepNucleus(logits, candidates, weights, params.topP) : candidates;
  return draw(kept, weights, uniform(params.seed, position));
}

/** The lowest id among the largest logits. */
function findLikeliest(logits: Float32Array): number {
  let likeliest = 0;
  for (let id = 1; id < logits.length; id += 1) {
    if (at(logits, id) > at(logits, likeliest)) likeliest = id;
  }
  return likeliest;
}

/** Weights by id. Tokens that min-p drops weigh 0. */
function weigh(
  logits: Float32Array,
  ids: Int32Array,
  largest: number,
  { temperature, minP }: SamplingParams,
  weights: Float64Array,
): void {
  const sharpness = sharpnessOf(temperature);
  const smallest = smallestWeightFor(minP);
  for (const id of ids) {
    const weight = weightOf(at(logits, id), largest, sharpness);
    weights[id] = weight < smallest ? 0 : weight;
  }
}

/** Top-p. Overwrites `ids`, and returns the kept ones in order of id. */
function keepNucleus(logits: Float32Array, ids: Int32Array, weights: Float64Array, topP: number): Int32Array {
  const total = sum(ids, weights);
  const needed = Math.max(1, total - shareOf(total, 1 - topP));
  // All tokens below this weight together weigh less than top-p drops, so they need no sorting.
  const negligible = (total - needed) / ids.length;
  let numLikely = 0;
  for (const id of ids) {
    if (at(weights, id) < negligible) continue;
    ids[numLikely] = id;
    numLikely += 1;
  }
  const likely = ids.subarray(0, numLikely).toSorted(compareLikelihood(logits));
  let numKept = 0;
  for (let weight = 0; weight < needed; numKept += 1) weight += at(weights, at(likely, numKept));
  return likely.subarray(0, numKept).toSorted();
}

/** Inverse of the cumulative distribution at `random` in [0, 1). */
function draw(ids: Int32Array, weights: Float64Array, random: number): number {
  const target = shareOf(sum(ids, weights), random);
  let cumulative = 0;
  let chosen = 0;
  for (const id of ids) {
    cumulative += at(weights, id);
    chosen = id;
    if (cumulative > target) break;
  }
  return chosen;
}

/** Exact in any order: weights are integers, and their sum is below 2^53. */
function sum(ids: Int32Array, weights: Float64Array): number {
  let total = 0;
  for (const id of ids) total += at(weights, id);
  return total;
}
