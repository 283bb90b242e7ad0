import { describe, expect, it } from 'vitest';
import { readModel } from '../families/families.ts';
import { downloadBytesOf, type Checkpoint, type CheckpointTensor } from './checkpoint.ts';
import { memoryFile } from '../formats/checkpoint-files.ts';
import { planModel } from './model-plan.ts';
import { GIBIBYTE, GPU, gpuWith, peakHeapOf, WASM } from './test-support.ts';
import { errorWith } from '../../testing/error-with.ts';

const GPT2 = {
  model_type: 'gpt2',
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 1024,
  vocab_size: 50_257,
};
const GPT2_LARGE = { ...GPT2, n_embd: 1280, n_head: 20, n_layer: 36 };
const GPT2_XL = { ...GPT2, n_embd: 1600, n_head: 25, n_layer: 48 };

describe('planModel', () => {
  it.each([
    ['fp16 where the GPU computes in it', GPT2, GPU, 'fp16', 'float16'],
    ['fp32 where it does not', GPT2, gpuWith({ hasShaderF16: false }), 'fp32', 'float32'],
    ['fp32 on the CPU for a small model', { ...GPT2, n_layer: 1 }, WASM, 'fp32', 'float32'],
    ['q8 on the CPU, where each token reads all weights', GPT2, WASM, 'q8', 'float32'],
    ['q8 where fp32 is more than the CPU has', GPT2_LARGE, WASM, 'q8', 'float32'],
    ['q4 where the machine is small', GPT2_XL, { ...GPU, memoryBytes: 2.8 * GIBIBYTE }, 'q4', 'float16'],
  ])('takes %s', (_, config, device, dtype, precision) => {
    expect(planModel(checkpointOf(config), 'auto', device).layout).toMatchObject({ dtype, precision });
  });

  it('takes what is asked for, with activations as the GPU computes', () => {
    expect(planModel(checkpointOf(GPT2), 'fp32', GPU).layout.precision).toBe('float32');
    expect(planModel(checkpointOf(GPT2), 'q8', GPU).layout.precision).toBe('float16');
    expect(planModel(checkpointOf(GPT2), 'q8', WASM).layout.precision).toBe('float32');
  });

  it('takes fp32 where the model exceeds the range of fp16, and activations of fp32 with q8', () => {
    const checkpoint = checkpointOf(GPT2);
    const wide = { ...checkpoint, model: { ...checkpoint.model, needsFloat32: true } as const };
    expect(planModel(wide, 'auto', GPU).layout).toMatchObject({ dtype: 'fp32', precision: 'float32' });
    expect(planModel(wide, 'q8', GPU).layout).toMatchObject({ dtype: 'q8', precision: 'float32' });
    expect(() => planModel(wide, 'fp16', GPU)).toThrow(errorWith('UNSUPPORTED_DTYPE', 'this model'));
  });

  it('says why it is not the best', () => {
    const { reason } = planModel(checkpointOf(GPT2_XL), 'auto', WASM);
    expect(reason).toMatch(/as fp32 .* MB/);
    expect(planModel(checkpointOf(GPT2), 'auto', gpuWith({ hasShaderF16: false })).reason).toBe('');
  });

  it('knows what gpt2 costs, within 300 MB of JavaScript', () => {
    const checkpoint = checkpointOf(GPT2);
    const { layout, deviceBytes } = planModel(checkpoint, 'fp32', GPU);
    expect(downloadBytesOf(checkpoint.weightFiles)).toBe(497_759_232);
    expect(layout.size).toBeLessThan(497_800_000);
    expect(deviceBytes - layout.size).toBe(2 * 75_497_472);
    expect(peakHeapOf(layout)).toBeLessThan(300e6);
  });

  it('splits an embedding of more than a shader binds', () => {
    const device = gpuWith({ hasShaderF16: false, maxStorageBufferBindingSize: 2 ** 27 });
    expect(planModel(checkpointOf(GPT2), 'auto', device).layout.dtype).toBe('fp32');
  });
});

describe('rejects', () => {
  it.each([
    [
      'a model for which no precision is small enough',
      'auto',
      { ...GPU, memoryBytes: GIBIBYTE / 2 },
      GPT2_XL,
    ],
    ['a precision in which it is too large', 'fp32', WASM, GPT2_XL],
    ['a matrix of more than a shader binds', 'fp32', gpuWith({ maxBufferSize: 2 ** 23 }), GPT2],
  ] as const)('%s, with the numbers', (_, dtype, device, config) => {
    expect(() => planModel(checkpointOf(config), dtype, device)).toThrow(
      errorWith('MODEL_TOO_LARGE', /\d+ M parameters.* \d+ MB, more than the \d+ MB/),
    );
  });

  it('fp16 on a device without it', () => {
    expect(() => planModel(checkpointOf(GPT2), 'fp16', WASM)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_DTYPE' }),
    );
  });
});

/** The headers of a checkpoint in F32. */
function checkpointOf(fields: object): Checkpoint {
  const model = readModel(fields, undefined);
  let end = 0;
  const tensors = new Map<string, readonly CheckpointTensor[]>();
  const file = memoryFile('model.safetensors', new Uint8Array());
  for (const { name, shape } of model.program.weights) {
    const begin = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    tensors.set(name, [{ name, dtype: 'F32', shape, begin, end, file }]);
  }
  return {
    config: fields,
    generationConfig: undefined,
    tokenizer: {},
    tokenizerConfig: {},
    model,
    weightFiles: [{ file, neededRanges: [{ begin: 0, end }], skippedTensors: [] }],
    tensors,
  };
}
