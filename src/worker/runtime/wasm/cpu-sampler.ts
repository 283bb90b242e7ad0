import type { StepRow } from '../../../batching/generation/model-runner.ts';
import { createSampler, type SampledToken } from '../../../batching/sampling/sampling.ts';

/** Samples the rows of one pass on the CPU; logits without a next token fail their own row and no other. */
export function createCpuSampler(vocabSize: number) {
  const sampleToken = createSampler(vocabSize);
  const sampleRow = (logits: Float32Array, row: StepRow): SampledToken | Error => {
    const { sampling: params, startPosition, tokenIds, tokenCounts, ban } = row;
    try {
      return sampleToken(logits, { params, position: startPosition + tokenIds.length, tokenCounts, ban });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return (logits: Float32Array, rows: readonly StepRow[]) =>
    rows.map((row, index) => sampleRow(logits.subarray(index * vocabSize, (index + 1) * vocabSize), row));
}
