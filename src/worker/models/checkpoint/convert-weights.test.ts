import { describe, expect, it } from 'vitest';
import { yieldToHost } from '../../platform/yield-to-host.ts';
import { safetensorsFile } from './safetensors-builder.ts';
import { convertWeights, packInMemory } from './convert-weights.ts';
import { planModel } from './model-plan.ts';
import type { DtypeChoice } from '../../protocol/models.ts';
import { openCheckpoint } from './open-checkpoint.ts';
import { logitsErrorBound, QUANTISATION_ERROR } from './test-support.ts';
import { TINY_CONFIG, tinyFiles, tinyTensors } from '../gpt2/tiny-checkpoint.ts';

const WASM = { kind: 'wasm', memoryBytes: undefined } as const;

describe('convertWeights', () => {
  it('packs fp32 as it is, at aligned places', async () => {
    const { packed, weights } = await pack('fp32', (i) => Math.sin(i));
    const norm = packed.tensors.find(({ name }) => name === 'h.0.ln_1.weight');
    const { offset = 0, length = 0 } = norm ?? {};
    const floats = new Float32Array(weights.slice(offset, offset + length).buffer);
    expect([...floats]).toEqual(Array.from({ length: 64 }, (_, i) => Math.fround(Math.sin(i))));
    expect(packed.tensors.every((tensor) => tensor.offset % 64 === 0)).toBe(true);
    expect(logitsErrorBound(packed)).toBe(0);
  });

  it('quantises the embedding and the matrices', async () => {
    const { packed } = await pack('q4', (i) => Math.sin(i * i));
    const quantised = packed.tensors.filter(({ encoding }) => encoding === 'q4');
    expect(quantised.map(({ name }) => name)).toEqual([
      'wte.weight',
      'h.0.attn.c_attn.weight',
      'h.0.attn.c_proj.weight',
      'h.0.mlp.c_fc.weight',
      'h.0.mlp.c_proj.weight',
    ]);
    expect(logitsErrorBound(packed)).toBeCloseTo(3 * Math.sqrt(5) * QUANTISATION_ERROR.q4, 10);
  });

  it('writes each byte once, and reports up to the end', async () => {
    const checkpoint = await openCheckpoint(tinyFiles());
    const plan = planModel(checkpoint, 'q8', WASM);
    const writes: (readonly [number, number])[] = [];
    let [done, total] = [0, 0];
    await convertWeights(
      checkpoint,
      plan,
      (bytes, at) => writes.push([at, at + bytes.byteLength]),
      (converted, all) => {
        [done, total] = [converted, all];
      },
    );
    const sorted = writes.toSorted(([a], [b]) => a - b);
    expect(sorted.every(([begin], i) => begin >= (sorted[i - 1]?.[1] ?? 0))).toBe(true);
    expect(sorted.at(-1)?.[1]).toBe(plan.layout.size);
    expect([done, total]).toEqual([plan.layout.size, plan.layout.size]);
  });
});

it('lets others work between slices', async () => {
  const checkpoint = await openCheckpoint(tinyFiles());
  const order: string[] = [];
  const convert = async () => {
    await packInMemory(checkpoint, planModel(checkpoint, 'fp32', WASM));
    order.push('converted');
  };
  const work = async () => {
    await yieldToHost();
    order.push('worked');
  };
  await Promise.all([work(), convert()]);
  expect(order).toEqual(['worked', 'converted']);
});

describe('rejects', () => {
  it('weights that are not numbers', async () => {
    await expect(pack('fp32', (i) => (i === 5 ? Number.NaN : 0))).rejects.toMatchObject({
      code: 'MODEL_FILE_CORRUPT',
      message: expect.stringContaining('wte.weight'),
    });
  });

  it('a file that ends before its tensors do', async () => {
    const files = tinyFiles();
    const checkpoint = await openCheckpoint({
      async open(name) {
        const file = await files.open(name);
        if (!file || name !== 'model.safetensors') return file;
        return { ...file, read: async (begin, end) => file.read(begin, Math.min(end, 5000)) };
      },
    });
    await expect(packInMemory(checkpoint, planModel(checkpoint, 'fp32', WASM))).rejects.toMatchObject({
      code: 'MODEL_FILE_CORRUPT',
      message: expect.stringContaining('ends within'),
    });
  });
});

async function pack(dtype: DtypeChoice, valueAt: (i: number) => number) {
  const weights = safetensorsFile(tinyTensors(TINY_CONFIG, valueAt));
  const checkpoint = await openCheckpoint(tinyFiles({}, { 'model.safetensors': weights }));
  return packInMemory(checkpoint, planModel(checkpoint, dtype, WASM));
}
