import { isAdjusting } from '../../../batching/sampling/adjust-logits.ts';
import { SHARE_UNITS, sharpnessOf, smallestWeightFor } from '../../../batching/sampling/token-weights.ts';
import type { StepRow } from '../../../batching/generation/model-runner.ts';

type Word = readonly [
  name: string,
  type: 'u32' | 'f32',
  valueOf: (row: StepRow, adjustmentsRow: number, vocabSize: number) => number,
];

/** The options of one row as the shader reads them, a word each. */
const WORDS: readonly Word[] = [
  // The row's index in ids, positions and lengths.
  ['slot', 'u32', ({ slot }) => slot],
  ['adjustments_row', 'u32', (_, adjustmentsRow) => adjustmentsRow],
  ['is_adjusted', 'u32', ({ sampling }) => Number(isAdjusting(sampling))],
  ['is_masked', 'u32', ({ mask }) => Number(mask !== undefined)],
  ['repetition', 'f32', ({ sampling }) => sampling.repetitionPenalty],
  ['repetition_inverse', 'f32', ({ sampling }) => 1 / sampling.repetitionPenalty],
  ['frequency', 'f32', ({ sampling }) => sampling.frequencyPenalty],
  ['presence', 'f32', ({ sampling }) => sampling.presencePenalty],
  // 0 = greedy.
  ['sharpness', 'f32', ({ sampling: { temperature } }) => (temperature === 0 ? 0 : sharpnessOf(temperature))],
  ['smallest_weight', 'u32', ({ sampling }) => smallestWeightFor(sampling.minP)],
  // 0 = all.
  ['top_k', 'u32', ({ sampling }) => sampling.topK],
  // The share that top-p may drop, in units of 2^-24; 0 = nothing.
  ['top_p_rest', 'u32', ({ sampling }) => Math.round((1 - sampling.topP) * SHARE_UNITS)],
  ['seed', 'u32', ({ sampling }) => sampling.seed],
  ['wants_logprobs', 'u32', ({ sampling }) => Number(sampling.logprobs !== undefined)],
  ['num_top', 'u32', ({ sampling }) => sampling.logprobs ?? 0],
  // The same for all rows. As a constant of the shader, it would make each vocabulary compile its own.
  ['vocab_size', 'u32', (_row, _adjustmentsRow, vocabSize) => vocabSize],
];

export const ROW_OPTIONS_BYTES = 4 * WORDS.length;

/** @param adjustmentsRowOf The row of adjustments of a slot. */
export function encodeRowOptions(
  rows: readonly StepRow[],
  vocabSize: number,
  adjustmentsRowOf: (slot: number) => number,
): ArrayBuffer {
  const words = new DataView(new ArrayBuffer(rows.length * ROW_OPTIONS_BYTES));
  for (const [rowIndex, row] of rows.entries()) {
    for (const [index, [, type, valueOf]] of WORDS.entries()) {
      const at = rowIndex * ROW_OPTIONS_BYTES + 4 * index;
      const value = valueOf(row, adjustmentsRowOf(row.slot), vocabSize);
      if (type === 'u32') words.setUint32(at, value, true);
      else words.setFloat32(at, value, true);
    }
  }
  return words.buffer;
}

/** WGSL: the words above, the weights of tokens by them, and what they leave to draw from, as in `sampling.ts`. */
export const ROW_OPTIONS_WGSL = /* wgsl */ `
struct RowOptions {
${WORDS.map(([name, type]) => `  ${name}: ${type},`).join('\n')}
}

struct Weighing {
  largest_logit: f32,
  sharpness: f32,
  /** Weights below it count as 0. */
  smallest_weight: u32,
}
var<private> weighing: Weighing;

fn weigh_all(largest_key: u32, sharpness: f32, smallest_weight: u32) {
  weighing = Weighing(logit_of(largest_key), sharpness, smallest_weight);
  keep_all();
}

fn weight_of_key(key: u32) -> u32 {
  if (key <= KEY_OF_MINUS_INFINITY) {
    return 0u;
  }
  let weight = weight_of(logit_of(key), weighing.largest_logit, weighing.sharpness);
  return select(weight, 0u, weight < weighing.smallest_weight);
}

/** Tokens to keep: the likeliest ones whose mass reaches \`needed\`; all where it is 0. */
struct Cut {
  needed: vec2u,
  measure: u32,
  /** A token with less mass is not among them. */
  negligible: u32,
}

/** The cuts of a draw: by top-k, then by top-p. */
fn cut_by_options(row: RowOptions, index: u32, total: vec2u) -> Cut {
  if (index == 0u) {
    return Cut(vec2u(select(0u, row.top_k, row.top_k < row.vocab_size), 0u), ONE_EACH, 1u);
  }
  if (row.top_p_rest == 0u) {
    return Cut(vec2u(0u), WEIGHT, 1u);
  }
  let dropped = share_of(total, row.top_p_rest);
  return Cut(max_of_one(subtract(total, dropped)), WEIGHT, negligible_weight(dropped));
}

fn max_of_one(value: vec2u) -> vec2u {
  return select(value, vec2u(1u, 0u), value.x == 0u && value.y == 0u);
}

/** All tokens below this weight together weigh less than top-p drops. At least 1. */
fn negligible_weight(dropped: vec2u) -> u32 {
  let num_bits = 32u - countLeadingZeros(vocab_size());
  let weight = (dropped.x >> num_bits) | (dropped.y << (32u - num_bits));
  return max(weight, 1u);
}
`;
