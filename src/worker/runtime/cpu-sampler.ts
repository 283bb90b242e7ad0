import { createSampler, type SampledToken } from '../../batching/sampling/sampling.ts';
import type { SampledRow } from './model-backend.ts';

/** Samples the rows of one pass on the CPU; logits without a next token fail their own row and no other. */
export function createCpuSampler(vocabSize: number) {
  const sampleToken = createSampler(vocabSize);
  const sampleRow = (logits: Float32Array, row: SampledRow): SampledToken | Error => {
    const { sampling: params, startPosition, tokenIds, tokenCounts, mask } = row;
    try {
      return sampleToken(logits, { params, position: startPosition + tokenIds.length, tokenCounts, mask });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return (logits: Float32Array, rows: readonly SampledRow[]) =>
    rows.map((row, index) => sampleRow(logits.subarray(index * vocabSize, (index + 1) * vocabSize), row));
}
