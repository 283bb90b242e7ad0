import { describe, expect, it } from 'vitest';
import { readSafetensorsIndex } from './safetensors.ts';
import { safetensorsFile } from './safetensors-builder.ts';
import { isStoredAsFloat16, placeWeights, type ModelWeights, type Precision } from './weights.ts';

const bytesOf = (array: Uint16Array | Float32Array) => new Uint8Array(array.buffer);

function place(file: Uint8Array, shapes: Record<string, number[]>, precision: Precision): ModelWeights {
  return placeWeights(
    file,
    readSafetensorsIndex(file, 'model.safetensors'),
    new Map(Object.entries(shapes)),
    precision,
  );
}

function floatsOf(weights: ModelWeights, name: string): number[] {
  const data = weights.initializers.get(name)?.data;
  if (!data || data instanceof Uint8Array) throw new Error(`${name} is not external`);
  return [...new Float32Array(weights.data.slice(data.offset, data.offset + data.length).buffer)];
}

/** Independent of the implementation: (-1)^sign * 2^(exponent - 15) * 1.fraction, by arithmetic. */
function valueOfHalf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

describe('placeWeights', () => {
  it('uses a file that has the right precision as it is, at its own unaligned offsets', () => {
    const file = safetensorsFile({
      odd: { dtype: 'F32', shape: [1], bytes: bytesOf(Float32Array.of(7)) },
      a: { dtype: 'F32', shape: [2], bytes: bytesOf(Float32Array.of(1.5, -2)) },
    });
    const weights = place(file, { a: [2] }, 'float32');
    expect(weights.data).toBe(file);
    expect(floatsOf(weights, 'a')).toEqual([1.5, -2]);
    expect(weights.numParameters).toBe(2);
  });

  it('uses fp16 as it lies where the GPU computes in fp16', () => {
    const file = safetensorsFile({ a: { dtype: 'F16', shape: [3] } });
    const weights = place(file, { a: [3] }, 'float16');
    expect(weights.data).toBe(file);
    expect(weights.initializers.get('a')).toMatchObject({ type: 'float16', dims: [3], data: { length: 6 } });
  });

  it('widens every fp16 value exactly, subnormals, zeros and infinities included', () => {
    const allBits = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);
    const file = safetensorsFile({ a: { dtype: 'F16', shape: [2 ** 16], bytes: bytesOf(allBits) } });
    const floats = floatsOf(place(file, { a: [2 ** 16] }, 'float32'), 'a');
    expect(floats.filter((value, bits) => !Object.is(value, valueOfHalf(bits)))).toEqual([]);
  });

  it('widens bf16, and mixes with fp32 in one buffer', () => {
    const file = safetensorsFile({
      a: { dtype: 'BF16', shape: [3], bytes: bytesOf(Uint16Array.of(0x3fc0, 0xc000, 0x0001)) },
      b: { dtype: 'F32', shape: [1], bytes: bytesOf(Float32Array.of(0.1)) },
    });
    const weights = place(file, { a: [3], b: [1] }, 'float32');
    expect(floatsOf(weights, 'a')).toEqual([1.5, -2, Math.fround(2 ** -133)]);
    expect(floatsOf(weights, 'b')).toEqual([Math.fround(0.1)]);
  });

  it('tells whether all tensors that are read are fp16', () => {
    const index = readSafetensorsIndex(
      safetensorsFile({ a: { dtype: 'F16', shape: [1] }, b: { dtype: 'F32', shape: [1] } }),
      'model.safetensors',
    );
    expect(isStoredAsFloat16(index, ['a'])).toBe(true);
    expect(isStoredAsFloat16(index, ['a', 'b'])).toBe(false);
    expect(isStoredAsFloat16(index, ['missing'])).toBe(false);
  });
});

describe('rejects', () => {
  const file = safetensorsFile({ a: { dtype: 'F32', shape: [2, 3] } });

  it('a checkpoint without a tensor that the graph reads', () => {
    expect(() => place(file, { b: [1] }, 'float32')).toThrow(
      expect.objectContaining({
        code: 'MODEL_FILE_CORRUPT',
        message: expect.stringContaining('tensor b is missing'),
      }),
    );
  });

  it('a tensor of another shape, naming both', () => {
    expect(() => place(file, { a: [3, 2] }, 'float32')).toThrow(
      /shape \[2, 3\], but config.json asks for \[3, 2\]/,
    );
  });
});
