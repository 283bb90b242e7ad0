import { describe, expect, it } from 'vitest';
import { memoryFile } from './checkpoint-files.ts';
import { readSafetensorsIndex } from './safetensors.ts';
import { safetensorsFile } from '../../testing/safetensors-builder.ts';
import { errorWith } from '../../testing/error-with.ts';

const read = (file: Uint8Array) => readSafetensorsIndex(memoryFile('model.safetensors', file));

describe('readSafetensorsIndex', () => {
  it('gives each tensor its dtype, shape and place in the file', async () => {
    const file = safetensorsFile({ a: { dtype: 'F32', shape: [2, 3] }, b: { dtype: 'F16', shape: [5] } });
    const tensors = await read(file);
    const { begin = 0, ...a } = tensors.get('a') ?? {};
    expect(a).toEqual({ dtype: 'F32', shape: [2, 3], end: begin + 24 });
    expect(tensors.get('b')).toEqual({ dtype: 'F16', shape: [5], begin: begin + 24, end: begin + 34 });
    expect(begin + 34).toBe(file.byteLength);
  });

  it('reads a scalar and an empty tensor, and leaves out the metadata', async () => {
    const file = safetensorsFile({
      scalar: { dtype: 'BF16', shape: [] },
      empty: { dtype: 'F32', shape: [0, 4] },
    });
    const tensors = await read(file);
    expect([...tensors].map(([name, { begin, end }]) => [name, end - begin])).toEqual([
      ['scalar', 2],
      ['empty', 0],
    ]);
  });

  it('knows the dtypes of tensors that nobody reads', async () => {
    const tensors = await read(safetensorsFile({ mask: { dtype: 'U8', shape: [3] } }));
    expect(tensors.get('mask')).toMatchObject({ dtype: 'U8', shape: [3] });
  });

  it('reads the header alone', async () => {
    const file = safetensorsFile({ a: { dtype: 'F32', shape: [1000] } });
    let lastByte = 0;
    await readSafetensorsIndex({
      ...memoryFile('model.safetensors', file),
      read: (begin, end) => {
        lastByte = Math.max(lastByte, end);
        return Promise.resolve(file.slice(begin, end));
      },
    });
    expect(lastByte).toBe(file.byteLength - 4000);
  });
});

describe('rejects damaged files', () => {
  const good = safetensorsFile({ a: { dtype: 'F32', shape: [2] } });

  it.each([
    ['a file of a few bytes', new Uint8Array(5), /holds only 5 bytes/],
    ['a header length beyond the file', withHeaderLength(good, BigInt(good.byteLength)), /header claims/],
    ['an absurd header length', withHeaderLength(good, 2n ** 63n), /header claims/],
    ['a header that is not JSON', withHeaderLength(good, 9n), /not JSON/],
    ['a truncated file', good.subarray(0, -1), /tensor a ends at byte \d+, but the file ends at/],
    ['a header that is a list', rawFile('[1, 2]'), /not a JSON object/],
    ['an entry that is not an object', rawFile('{"a": 3}'), /entry of tensor a/],
    [
      'an unknown dtype',
      rawFile('{"a": {"dtype": "Q4_0", "shape": [1], "data_offsets": [0, 8]}}'),
      /dtype Q4_0/,
    ],
    [
      'a dtype that is a property of every object',
      rawFile('{"a": {"dtype": "toString", "shape": [1], "data_offsets": [0, 8]}}'),
      /dtype toString/,
    ],
    [
      'a negative dimension',
      rawFile('{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}'),
      /shape/,
    ],
    [
      'a fractional dimension',
      rawFile('{"a": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 6]}}'),
      /shape/,
    ],
    [
      'a single offset',
      rawFile('{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4]}}'),
      /data_offsets/,
    ],
    [
      'offsets that do not span the shape',
      rawFile('{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}'),
      /spans 4 bytes/,
    ],
    [
      'offsets beyond the file',
      rawFile('{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}'),
      /ends at byte/,
    ],
  ])('%s', async (_, file, detail) => {
    await expect(read(file)).rejects.toThrow(errorWith('MODEL_FILE_CORRUPT', detail));
  });
});

function withHeaderLength(file: Uint8Array, length: bigint): Uint8Array {
  const copy = file.slice();
  new DataView(copy.buffer).setBigUint64(0, length, true);
  return copy;
}

function rawFile(header: string): Uint8Array {
  return withHeaderLength(new TextEncoder().encode(`${' '.repeat(8)}${header}`), BigInt(header.length));
}
