import type { ModelBackend } from '../../src/worker/runtime/model-backend.ts';

/**
 * @param capacity Of the K/V cache, in tokens: at least the longest prompt's.
 * @param prompts Token ids of each prompt.
 * @returns Logits [vocab] after the last token of each prompt, in fp32.
 */
export async function logitsOf(
  backend: ModelBackend,
  capacity: number,
  prompts: readonly (readonly number[])[],
): Promise<number[][]> {
  backend.resize({ numSlots: 1, numStagingRows: 1, capacity });
  const logits: number[][] = [];
  for (const prompt of prompts) {
    await backend.forward({
      target: 'staging',
      numRows: 1,
      tokensPerRow: prompt.length,
      ids: Int32Array.from(prompt),
      positions: Int32Array.from(prompt, (_, position) => position),
      lastIndices: Int32Array.of(prompt.length - 1),
    });
    logits.push([...(await backend.readLogits(1))]);
  }
  return logits;
}
