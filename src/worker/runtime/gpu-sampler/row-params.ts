import { isAdjusting, penaltiesOf, type TokenBan } from '../../../batching/sampling/adjust-logits.ts';
import type { StepRow } from '../../../batching/generation/model-runner.ts';
import type { SamplingParams } from '../../../batching/generation/options.ts';
import { SHARE_UNITS, sharpnessOf, smallestWeightFor } from '../../../batching/sampling/token-weights.ts';

/** One row's sampling parameters as the shader reads them. The order is that of the words below. */
export const ROW_PARAMS_WGSL = /* wgsl */ `
struct RowParams {
  /** Where the row's ids, positions, lengths and adjustments are. */
  slot: u32,
  adjustments_row: u32,
  is_adjusted: u32,
  seed: u32,
  /** 0 = greedy. */
  sharpness: f32,
  smallest_weight: u32,
  /** 0 = all. */
  top_k: u32,
  /** What top-p may drop, in units of 2^-24; 0 = nothing. */
  top_p_rest: u32,
  repetition: f32,
  repetition_inverse: f32,
  frequency: f32,
  presence: f32,
  wants_logprobs: u32,
  num_top: u32,
  zero: u32,
  /** Before this position the tokens that adjustments name are banned. */
  banned_until: u32,
}
`;

export const ROW_PARAMS_BYTES = 64;

/** Whether the shader looks at the row's adjustments. */
export function isAdjusted({ sampling, ban }: AdjustedRow): boolean {
  return isAdjusting(sampling) || ban !== undefined;
}

interface AdjustedRow {
  readonly sampling: SamplingParams;
  readonly ban?: TokenBan | undefined;
}

/** Nothing here changes while the request stays in its slot, so a row is written once and not with every step. */
export function encodeRowParams(
  { sampling: params, slot, ban }: StepRow,
  adjustmentsRow: number,
): ArrayBuffer {
  const words = new DataView(new ArrayBuffer(ROW_PARAMS_BYTES));
  const { repetition, repetitionInverse, frequency, presence } = penaltiesOf(params);
  const { temperature, topK, topP, minP, seed, logprobs } = params;
  const integer = (index: number, value: number): void => words.setUint32(4 * index, value, true);
  const float = (index: number, value: number): void => words.setFloat32(4 * index, value, true);
  integer(0, slot);
  integer(1, adjustmentsRow);
  integer(2, isAdjusted({ sampling: params, ban }) ? 1 : 0);
  integer(3, seed);
  float(4, temperature === 0 ? 0 : sharpnessOf(temperature));
  integer(5, smallestWeightFor(minP));
  integer(6, topK);
  integer(7, Math.round((1 - topP) * SHARE_UNITS));
  float(8, repetition);
  float(9, repetitionInverse);
  float(10, frequency);
  float(11, presence);
  integer(12, logprobs === undefined ? 0 : 1);
  integer(13, logprobs ?? 0);
  integer(15, ban?.untilPosition ?? 0);
  return words.buffer;
}
