import { expect, it } from 'vitest';
import { CpuMemory } from '../memory/cpu-memory.ts';
import { loadKernels, RESERVED_BYTES } from '../kernels/load-kernels.ts';
import { readModel } from '../../models/families/families.ts';
import type { PlacedTensor } from '../weights/place-weights.ts';
import { CpuPlan } from './cpu-plan.ts';

/** Float32 values of all buffers, for a token. */
async function widthOf(numLayers: number): Promise<number> {
  const { program } = readModel(
    {
      model_type: 'llama',
      vocab_size: 32,
      hidden_size: 48,
      intermediate_size: 64,
      num_hidden_layers: numLayers,
      num_attention_heads: 2,
      num_key_value_heads: 1,
      head_dim: 32,
    },
    undefined,
  );
  const memory = new CpuMemory(RESERVED_BYTES);
  const { kernels } = await loadKernels(memory.memory, false);
  const weights = program.weights.map(({ name }): [string, PlacedTensor] => [
    name,
    { encoding: 'float32', address: 0 },
  ]);
  return new CpuPlan(program, { kernels, numThreads: 1 }, memory, new Map(weights)).tokenBytes / 4;
}

it('a few buffers do for all layers: the residual stream, its norm, and two that an operation reads and writes', async () => {
  const width = await widthOf(8);
  expect(width).toBe(await widthOf(2));
  // 4 for what a token brings; queries, keys and values are 128 wide, gate and up 64 each.
  expect(width).toBeLessThanOrEqual(4 + 2 * 48 + 128 + 64 + 32);
});
