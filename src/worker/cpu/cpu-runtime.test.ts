import { expect, it } from 'vitest';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import { DECODER_CASES, decoderOf } from '../testing/operation-cases.ts';
import { CpuRuntime } from './cpu-runtime.ts';

it('says how it multiplies matrices, by which module and on how many threads', async () => {
  const model = decoderOf(DECODER_CASES['a product']);
  const layout = layOut(model.program.weights, 'q8', 'float32');
  const runtime = new CpuRuntime(1);
  await runtime.createGenerator({
    model,
    ...checkpointWeights({ tensors: seededTensors(model, 1) }, { layout }),
  });
  expect(runtime.describe('q8')).toEqual({
    name: 'wasm',
    adapter: expect.stringMatching(/^CPU, int8, (relaxed|plain) SIMD, 1 thread$/),
  });
});
