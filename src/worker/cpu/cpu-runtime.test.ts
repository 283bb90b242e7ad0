import { expect, it, vi } from 'vitest';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import { DECODER_CASES, decoderOf } from '../testing/operation-cases.ts';
import { CpuRuntime } from './cpu-runtime.ts';

function createModel() {
  const model = decoderOf(DECODER_CASES['a product']);
  const layout = layOut(model.program.weights, 'q8', 'float32');
  return { model, ...checkpointWeights({ tensors: seededTensors(model, 1) }, { layout }) };
}

it('looks for the fastest kernels from the start: the first model finds them', async () => {
  const find = vi.spyOn(WebAssembly, 'validate');
  // A worker finds them once, and another test of this process may have.
  vi.resetModules();
  const { CpuRuntime: Runtime } = await import('./cpu-runtime.ts');
  const runtime = new Runtime(1);
  await vi.waitFor(() => expect(find).toHaveBeenCalledOnce());
  await runtime.createGenerator(createModel());
  expect(find).toHaveBeenCalledOnce();
});

it('says how it multiplies matrices, by which module and on how many threads', async () => {
  const runtime = new CpuRuntime(1);
  await runtime.createGenerator(createModel());
  expect(runtime.describe('q8')).toEqual({
    name: 'wasm',
    adapter: expect.stringMatching(/^CPU, int8, (relaxed|plain) SIMD, 1 thread$/),
  });
});
