import { uniform } from './random.ts';
import type { SamplingParams } from './request.ts';
import { at, compareLikelihood, topK } from './top-k.ts';

/**
 * The token at `position`, given the logits of the token before it. Throws `RangeError` for logits of which one is NaN
 * or +Infinity, or all are -Infinity: that row has no next token, its batch-mates have.
 */
export type SampleToken = (logits: Float32Array, params: SamplingParams, position: number) => number;

/**
 * The CPU path of sampling, and the reference for a GPU path. Temperature, then the `topK` most likely, then of
 * these the smallest set that reaches `topP`; of equal logits the lower id is the likelier. The draw walks what is
 * kept in order of id, so that it needs no sorted probabilities.
 *
 * The sampler owns scratch memory for one vocabulary; a greedy row allocates nothing.
 */
export function createSampler(vocabSize: number): SampleToken {
  const weights = new Float64Array(vocabSize);
  const scratch = new Int32Array(vocabSize);

  return (logits, params, position) => {
    if (logits.length !== vocabSize) {
      throw new RangeError(
        `Expected ${vocabSize} logits, one per token of the vocabulary, got ${logits.length}`,
      );
    }
    const likeliest = findLikeliest(logits);
    if (params.temperature === 0) return likeliest;
    const candidates = topK(logits, params.topK || vocabSize, scratch);
    weigh(logits, candidates, at(logits, likeliest), params.temperature, weights);
    const kept = params.topP < 1 ? keepNucleus(logits, candidates, weights, params.topP) : candidates;
    return draw(kept, weights, uniform(params.seed, position));
  };
}

/** The lowest id among the largest logits. */
function findLikeliest(logits: Float32Array): number {
  let likeliest = 0;
  let largest = -Infinity;
  for (let id = 0; id < logits.length; id += 1) {
    const logit = at(logits, id);
    if (logit <= largest) continue;
    if (!(logit < Infinity))
      throw new RangeError(`Expected the logit of token ${id} to be finite, got ${logit}`);
    largest = logit;
    likeliest = id;
  }
  if (largest === -Infinity) throw new RangeError('Expected a finite logit, got -Infinity for every token');
  return likeliest;
}

/** Unnormalised probabilities, by id; the likeliest weighs 1, whatever the temperature. */
function weigh(
  logits: Float32Array,
  ids: Int32Array,
  largest: number,
  temperature: number,
  weights: Float64Array,
): void {
  for (const id of ids) weights[id] = Math.exp((at(logits, id) - largest) / temperature);
}

/** Top-p. Works inside `ids`, and returns what is kept in order of id. */
function keepNucleus(logits: Float32Array, ids: Int32Array, weights: Float64Array, topP: number): Int32Array {
  const total = sum(ids, weights);
  // Tokens below this together weigh less than what top-p drops, so they need no sorting.
  const negligible = (total * (1 - topP)) / ids.length;
  let numLikely = 0;
  for (const id of ids) {
    if (at(weights, id) < negligible) continue;
    ids[numLikely] = id;
    numLikely += 1;
  }
  const likely = ids.subarray(0, numLikely).toSorted(compareLikelihood(logits));
  let numKept = 0;
  for (let weight = 0; weight < topP * total && numKept < numLikely; numKept += 1) {
    weight += at(weights, at(likely, numKept));
  }
  return likely.subarray(0, numKept).toSorted();
}

/** Inverse of the cumulative distribution at `random` in [0, 1). */
function draw(ids: Int32Array, weights: Float64Array, random: number): number {
  const target = random * sum(ids, weights);
  let cumulative = 0;
  let chosen = 0;
  // Adds the same weights in the same order as `sum`, so it does pass the target, which is below the total.
  for (const id of ids) {
    cumulative += at(weights, id);
    chosen = id;
    if (cumulative > target) break;
  }
  return chosen;
}

function sum(ids: Int32Array, weights: Float64Array): number {
  let total = 0;
  for (const id of ids) total += at(weights, id);
  return total;
}
