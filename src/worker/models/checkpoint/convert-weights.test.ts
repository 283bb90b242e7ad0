import { describe, expect, it, vi } from 'vitest';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { safetensorsFile } from '../../testing/safetensors-builder.ts';
import type { ModelTensor } from '../program/model-config.ts';
import { BLOCK_FORMATS, isBlockDtype } from '../formats/block-formats.ts';
import type { CheckpointTensor } from './checkpoint.ts';
import { memoryFile } from '../formats/checkpoint-files.ts';
import { layOut } from './packed-weights.ts';
import { convertWeights, packInMemory, SLICE_BYTES } from './convert-weights.ts';
import { planModel } from './model-plan.ts';
import type { Dtype, DtypeChoice } from '../../../protocol/models.ts';
import { openCheckpoint } from './open-checkpoint.ts';
import { writeRows } from './weight-source.ts';
import { logitsErrorBound, QUANTIZATION_ERROR, WASM } from './test-support.ts';
import { TINY_CONFIG, tinyFiles, tinyTensors } from '../../testing/tiny-checkpoint.ts';
import { errorWith } from '../../testing/error-with.ts';

describe('convertWeights', () => {
  it('packs fp32 as it is, at aligned places', async () => {
    const { packed, weights } = await pack('fp32', (i) => Math.sin(i));
    const norm = packed.tensors.find(({ name }) => name === 'h.0.ln_1.weight');
    const { offset = 0, length = 0 } = norm ?? {};
    const floats = new Float32Array(weights.slice(offset, offset + length).buffer);
    expect([...floats]).toEqual(Array.from({ length: 64 }, (_, i) => Math.fround(Math.sin(i))));
    expect(packed.tensors.every((tensor) => tensor.offset % 64 === 0)).toBe(true);
    expect(logitsErrorBound(packed, true)).toBe(0);
  });

  it('refuses a head whose last values alone differ from the embedding that is tied to it', async () => {
    const config = { ...TINY_CONFIG, vocab_size: 512 };
    const { 'lm_head.weight': head } = tinyTensors({ ...config, tie_word_embeddings: false }, (i) =>
      Number(i === 512 * 64 - 1),
    );
    if (!head) throw new Error('There is no head.');
    const tensors = { ...tinyTensors(config), 'lm_head.weight': head };
    const checkpoint = await openCheckpoint(tinyFiles(tensors, { 'config.json': config }));
    await expect(packInMemory(checkpoint, planModel(checkpoint, 'fp32', WASM))).rejects.toEqual(
      errorWith('UNSUPPORTED_MODEL', 'tie_word_embeddings'),
    );
  });

  it('quantizes the matrices, the sensitive ones in 8 bits', async () => {
    const { packed } = await pack('q4', (i) => Math.sin(i * i));
    const inBits = (encoding: 'q8' | 'q4') =>
      packed.tensors.filter((tensor) => tensor.encoding === encoding).map(({ name }) => name);
    expect(inBits('q8')).toEqual(['wte.weight', 'h.0.attn.c_attn.weight', 'h.0.mlp.c_proj.weight']);
    expect(inBits('q4')).toEqual(['h.0.attn.c_proj.weight', 'h.0.mlp.c_fc.weight']);
    const { q8, q4 } = QUANTIZATION_ERROR;
    expect(logitsErrorBound(packed, false)).toBeCloseTo(3 * Math.sqrt(3 * q8 ** 2 + 2 * q4 ** 2), 10);
  });

  it('tells the error of each quantized tensor, and of no other', async () => {
    for (const dtype of ['q8', 'q4'] as const) {
      const weights = safetensorsFile(tinyTensors(TINY_CONFIG, (i) => (Math.sin(i) * 43_758.5453) % 1));
      const checkpoint = await openCheckpoint(tinyFiles({}, { 'model.safetensors': weights }));
      const plan = planModel(checkpoint, dtype, WASM);
      const errors = await convertWeights(checkpoint, plan, () => {});
      const quantized = plan.layout.tensors.filter(({ scales }) => scales);
      expect(Object.keys(errors)).toEqual(quantized.map(({ name }) => name));
      for (const { name, encoding } of quantized) {
        const error = (errors[name] ?? NaN) / QUANTIZATION_ERROR[encoding];
        expect(error).toBeGreaterThan(0.9);
        expect(error).toBeLessThan(1.05);
      }
    }
  });

  it('writes each byte once, and reports up to the end', async () => {
    const checkpoint = await openCheckpoint(tinyFiles());
    const plan = planModel(checkpoint, 'q8', WASM);
    const writes: (readonly [number, number])[] = [];
    let [done, total] = [0, 0];
    await convertWeights(
      checkpoint,
      plan,
      (rows) => writeRows(rows, (bytes, at) => writes.push([at, at + bytes.byteLength])),
      (converted, all) => {
        [done, total] = [converted, all];
      },
    );
    const sorted = writes.toSorted(([a], [b]) => a - b);
    expect(sorted.every(([begin], i) => begin >= (sorted[i - 1]?.[1] ?? 0))).toBe(true);
    expect(sorted.at(-1)?.[1]).toBe(plan.layout.size);
    const numBytes = writes.reduce((sum, [begin, end]) => sum + end - begin, 0);
    expect([done, total]).toEqual([numBytes, numBytes]);
  });

  it('reads the file from front to back, whatever the order of the model', async () => {
    const backwards = Object.fromEntries(Object.entries(tinyTensors()).toReversed());
    const checkpoint = await openCheckpoint(tinyFiles(backwards));
    const reads: number[] = [];
    const [weights] = checkpoint.weightFiles;
    if (!weights) throw new Error('There are no weights');
    const read = weights.file.read.bind(weights.file);
    vi.spyOn(weights.file, 'read').mockImplementation((begin, end) => {
      reads.push(begin);
      return read(begin, end);
    });
    await convertWeights(checkpoint, planModel(checkpoint, 'fp32', WASM), () => {});
    expect(reads).toHaveLength(checkpoint.tensors.size);
    expect(reads).toEqual(reads.toSorted((a, b) => a - b));
  });
});

describe("a tensor of several of the checkpoint's", () => {
  const ROWS = 40;
  const WIDTH = 64;
  const fused: ModelTensor = {
    name: 'qkv',
    shape: [ROWS, WIDTH],
    role: 'linear',
    sources: [
      { name: 'q', numRows: 30 },
      { name: 'k', numRows: 10 },
    ],
  };
  const whole: ModelTensor = { name: 'qkv', shape: [ROWS, WIDTH], role: 'linear' };
  // Exact in bf16, as in fp16 and fp32.
  const values = Float32Array.from({ length: ROWS * WIDTH }, (_, i) => ((i * 37) % 255) - 127);

  it.each(['fp32', 'q8', 'q4'] as const)('is packed as %s as one that is whole', async (dtype) => {
    const q = sourceOf('q', values.subarray(0, 30 * WIDTH), [30, WIDTH], 'BF16');
    const k = sourceOf('k', values.subarray(30 * WIDTH), [10, WIDTH], 'F32');
    const expected = await packTensor(whole, [sourceOf('qkv', values, [ROWS, WIDTH], 'F16')], dtype);
    expect(await packTensor(fused, [q, k], dtype)).toEqual(expected);
    expect(await packTensor(fused, [k, q], dtype)).not.toEqual(expected);
  });

  it('comes slice by slice, also where a part is larger than a slice', async () => {
    const numRows = 3 + SLICE_BYTES / (4 * WIDTH);
    const shape = [numRows + 2, WIDTH];
    const large = Float32Array.from({ length: (numRows + 2) * WIDTH }, (_, i) => i % 1000);
    const reads: number[] = [];
    const sources = [
      sourceOf('q', large.subarray(0, numRows * WIDTH), [numRows, WIDTH], 'F32', reads),
      sourceOf('k', large.subarray(numRows * WIDTH), [2, WIDTH], 'F32', reads),
    ];
    const packed = await packTensor({ name: 'qk', shape, role: 'linear' }, sources, 'fp32');
    expect(new Float32Array(packed.buffer)).toEqual(large);
    expect(reads).toEqual([SLICE_BYTES, 3 * 4 * WIDTH, 2 * 4 * WIDTH]);
  });

  it('of one dimension is packed as well', async () => {
    const sources = [
      sourceOf('q', values.subarray(0, 6), [6], 'BF16'),
      sourceOf('k', values.subarray(6, 8), [2], 'F16'),
    ];
    const packed = await packTensor({ name: 'bias', shape: [8], role: 'plain' }, sources, 'q8');
    expect(new Float32Array(packed.buffer)).toEqual(values.subarray(0, 8));
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
  it.each(
    (['fp32', 'q8', 'q4'] as const).flatMap((dtype) =>
      [NaN, Infinity, -Infinity].map((value) => [value, dtype] as const),
    ),
  )('%d among weights that become %s', async (value, dtype) => {
    await expect(pack(dtype, (i) => (i === 5 ? value : 0))).rejects.toEqual(
      errorWith('MODEL_FILE_CORRUPT', 'wte.weight holds values that are not numbers'),
    );
  });

  it.each(['F32', 'F16', 'BF16'] as const)('what is not a number in %s', async (dtype) => {
    for (const value of [NaN, Infinity, -Infinity]) {
      const values = Float32Array.from({ length: 64 }, (_, i) => (i === 40 ? value : i));
      const tensor = { name: 'w', shape: [2, 32], role: 'linear' } as const;
      await expect(packTensor(tensor, [sourceOf('w', values, [2, 32], dtype)], 'q8')).rejects.toEqual(
        errorWith('MODEL_FILE_CORRUPT', 'w.safetensors'),
      );
    }
  });

  it.each(Object.keys(BLOCK_FORMATS).filter(isBlockDtype))(
    'a scale that is not a number in a GGUF file of %s',
    async (dtype) => {
      const format = BLOCK_FORMATS[dtype];
      const { numValues, numBytes } = format;
      const blocks = new Uint8Array(2 * numBytes).fill(1);
      // Each format has a scale in fp16 at its start or its end.
      for (const at of [0, numBytes - 2]) {
        const bad = blocks.slice();
        new DataView(bad.buffer).setUint16(numBytes + at, 0x7e00, true);
        const values = new Float32Array(numValues);
        format.decode(new DataView(bad.buffer), numBytes, values, 0);
        if (values.every(Number.isFinite)) continue;
        const file = memoryFile('w.gguf', bad);
        const source = { name: 'w', dtype, shape: [2, numValues], begin: 0, end: bad.length, file };
        const tensor = { name: 'w', shape: [2, numValues], role: 'linear' } as const;
        await expect(packTensor(tensor, [source], 'q8')).rejects.toEqual(
          errorWith('MODEL_FILE_CORRUPT', 'w.gguf'),
        );
        return;
      }
      throw new Error('No scale was found');
    },
  );

  it('a file that ends before its tensors do', async () => {
    const files = tinyFiles();
    const checkpoint = await openCheckpoint({
      async open(name) {
        const file = await files.open(name);
        if (!file || name !== 'model.safetensors') return file;
        return { ...file, read: async (begin, end) => file.read(begin, Math.min(end, 5000)) };
      },
    });
    await expect(packInMemory(checkpoint, planModel(checkpoint, 'fp32', WASM))).rejects.toEqual(
      errorWith('MODEL_FILE_CORRUPT', 'ends within'),
    );
  });
});

async function pack(dtype: DtypeChoice, valueAt: (i: number) => number) {
  const weights = safetensorsFile(tinyTensors(TINY_CONFIG, valueAt));
  const checkpoint = await openCheckpoint(tinyFiles({}, { 'model.safetensors': weights }));
  return packInMemory(checkpoint, planModel(checkpoint, dtype, WASM));
}

async function packTensor(tensor: ModelTensor, sources: readonly CheckpointTensor[], dtype: Dtype) {
  const layout = layOut([tensor], dtype, 'float32');
  const { weights } = await packInMemory({ tensors: new Map([[tensor.name, sources]]) }, { layout });
  return weights;
}

/** @param reads Takes the length of each read. */
function sourceOf(
  name: string,
  values: Float32Array,
  shape: readonly number[],
  dtype: 'F32' | 'F16' | 'BF16',
  reads: number[] = [],
): CheckpointTensor {
  const encoded = {
    F32: () => new Uint8Array(new Float32Array(values).buffer),
    F16: () => new Uint8Array(new Float16Array(values).buffer),
    BF16: () =>
      new Uint8Array(
        new Uint16Array(new Uint32Array(new Float32Array(values).buffer).map((bits) => bits >>> 16)).buffer,
      ),
  }[dtype]();
  const file = {
    name: `${name}.safetensors`,
    size: 8 + encoded.byteLength,
    read(begin: number, end: number) {
      reads.push(end - begin);
      return Promise.resolve(encoded.slice(begin - 8, end - 8));
    },
  };
  return { name, dtype, shape, begin: 8, end: 8 + encoded.byteLength, file };
}
