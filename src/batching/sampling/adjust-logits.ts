import type { SamplingParams } from '../options/sampling-options.ts';
import { at } from './top-k.ts';

/** Each token of a sequence's prompt and output -> how often the output has it. */
export type TokenCounts = ReadonlyMap<number, number>;

/** Whether bias or penalties change any logit. */
export function isAdjusting({
  logitBias,
  repetitionPenalty,
  presencePenalty,
  frequencyPenalty,
}: SamplingParams): boolean {
  return (
    repetitionPenalty !== 1 ||
    presencePenalty !== 0 ||
    frequencyPenalty !== 0 ||
    Object.keys(logitBias).length > 0
  );
}

/**
 * Applies bias, then penalties, in place. Every step is one f32 operation, rounded by the store into the array, so a GPU
 * gets the same bits.
 */
export function adjustLogits(logits: Float32Array, params: SamplingParams, tokenCounts: TokenCounts): void {
  for (const [key, bias] of Object.entries(params.logitBias)) {
    const id = Number(key);
    logits[id] = at(logits, id) + Math.fround(bias);
  }
  const repetition = Math.fround(params.repetitionPenalty);
  // GPUs differ in how they round a division, so both sides multiply by the inverse.
  const repetitionInverse = Math.fround(1 / params.repetitionPenalty);
  const presence = Math.fround(params.presencePenalty);
  const frequency = Math.fround(params.frequencyPenalty);
  for (const [id, numOutputs] of tokenCounts) {
    logits[id] = at(logits, id) * (at(logits, id) > 0 ? repetitionInverse : repetition);
    if (numOutputs === 0) continue;
    logits[id] = at(logits, id) - Math.fround(frequency * numOutputs);
    logits[id] = at(logits, id) - presence;
  }
}
