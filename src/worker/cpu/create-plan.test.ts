import { afterEach, expect, it, vi } from 'vitest';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import { DECODER_CASES, decoderOf } from '../testing/operation-cases.ts';
import { CpuMemory } from './memory/cpu-memory.ts';
import { createCpuPlan } from './create-plan.ts';

afterEach(() => void vi.restoreAllMocks());

const full = (): never => {
  throw new RangeError("WASM memory allocation failed: it can't grow to 5000 MB");
};

it.each([
  ['from the start', () => vi.spyOn(WebAssembly, 'Memory').mockImplementation(full)],
  ['while they come', () => vi.spyOn(CpuMemory.prototype, 'allocate').mockImplementation(full)],
])('refuses weights for which there is no memory %s, with the number and what to do', async (_, fill) => {
  const model = decoderOf(DECODER_CASES['a product']);
  const layout = layOut(model.program.weights, 'fp32', 'float32');
  const weights = checkpointWeights({ tensors: seededTensors(model, 1) }, { layout });
  fill();
  await expect(createCpuPlan({ model, ...weights }, 1)).rejects.toMatchObject({
    code: 'MODEL_TOO_LARGE',
    message: expect.stringMatching(/weights take \d+ MB, which the browser doesn't give.*Choose a smaller/),
  });
});
