import { describe, expect, it } from 'vitest';

import { ggufFile } from '../../testing/gguf-builder.ts';
import { memoryFile } from '../formats/checkpoint-files.ts';
import { readFloats } from '../formats/float-formats.ts';
import { readGguf } from './read-gguf.ts';

const METADATA = { 'general.architecture': 'llama', 'llama.block_count': 2 };
const TENSORS = [{ name: 'token_embd.weight', shape: [4, 32], values: new Float32Array(128).fill(0.5) }];

const whole = ggufFile(METADATA, TENSORS);
const read = (bytes: Uint8Array) => readGguf(memoryFile('model.gguf', bytes));

it('reads metadata, and places of tensors with their rows first', async () => {
  const { metadata, tensors } = await read(whole);
  expect(metadata).toMatchObject(METADATA);
  expect(tensors.get('token_embd.weight')).toMatchObject({ dtype: 'F32', shape: [4, 32] });
});

describe('refuses with a code', () => {
  const alignment = { ...METADATA, 'general.alignment': 12 };

  it.each([
    [
      'a file of another kind',
      ggufFile(METADATA, TENSORS, { magic: 'GGML' }),
      'MODEL_FILE_CORRUPT',
      /is no GGUF file/,
    ],
    ['another version', ggufFile(METADATA, TENSORS, { version: 4 }), 'MODEL_FILE_CORRUPT', /version/],
    ['a version that llama.cpp no longer reads', v1(), 'UNSUPPORTED_MODEL', /version 1/],
    [
      'more tensors than there are',
      ggufFile(METADATA, TENSORS, { numTensors: 2 ** 40 }),
      'MODEL_FILE_CORRUPT',
      /count/i,
    ],
    [
      'more entries than there are',
      ggufFile(METADATA, TENSORS, { numEntries: 60_000 }),
      'MODEL_FILE_CORRUPT',
      /./,
    ],
    ['an unknown type', ggufFile(METADATA, TENSORS, { type: 99 }), 'UNSUPPORTED_MODEL', /type 99.*Q4_K/],
    [
      'a type that is not decoded',
      ggufFile(METADATA, TENSORS, { type: 10 }),
      'UNSUPPORTED_MODEL',
      /type Q2_K/,
    ],
    [
      'rows that are no whole blocks',
      ggufFile(METADATA, TENSORS, { type: 12 }),
      'UNSUPPORTED_MODEL',
      /whole blocks/,
    ],
    [
      'an alignment that no writer uses',
      ggufFile(alignment, TENSORS),
      'MODEL_FILE_CORRUPT',
      /alignment is 12/,
    ],
    ['a file that is cut off in its tensors', whole.slice(0, -1), 'MODEL_FILE_CORRUPT', /ends at byte/],
    ['an empty file', new Uint8Array(), 'MODEL_FILE_CORRUPT', /ends within its header/],
  ])('%s', async (_, bytes, code, message) => {
    await expect(read(bytes)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('a file that is cut off anywhere in its header', async () => {
    const { tensors } = await read(whole);
    const dataStart = tensors.get('token_embd.weight')?.begin ?? 0;
    for (let length = 1; length < dataStart; length++) {
      await expect(read(whole.slice(0, length))).rejects.toMatchObject({ code: expect.any(String) });
    }
  });
});

/** Counts had 32 bits. */
function v1(): Uint8Array {
  const header = Uint8Array.of(0x47, 0x47, 0x55, 0x46, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return new Uint8Array([...header, ...new Uint8Array(64)]);
}

it.each(['F32', 'F16', 'Q4_0'] as const)('finds the values of a tensor of type %s', async (type) => {
  const bytes = ggufFile(
    METADATA,
    TENSORS.map((tensor) => ({ ...tensor, type })),
  );
  const view = (await read(bytes)).tensors.get('token_embd.weight');
  if (view?.dtype !== type) throw new Error(`Expected type ${type}, got ${view?.dtype}`);
  expect(readFloats(bytes.slice(view.begin, view.end), type)).toEqual(TENSORS[0]?.values);
});
