import { describe, expect, it, vi } from 'vitest';
import { layOut, sectionsOf } from '../checkpoint/packed-weights.ts';
import { writeRows } from '../checkpoint/weight-source.ts';
import type * as StoredDigest from './stored-digest.ts';
import { createSectionDigests } from './stored-digest.ts';
import { StoredWeights } from './stored-weights.ts';
import { OpfsFile } from './test-support.ts';

const LAYOUT = layOut(
  [
    { name: 'embedding', role: 'embedding', shape: [5, 32] },
    { name: 'norm', role: 'plain', shape: [7] },
  ],
  'q8',
  'float32',
);

/** A stored file of which byte i is i, modulo 251. */
async function createStored() {
  const file = new OpfsFile();
  file.write(
    Uint8Array.from({ length: LAYOUT.size }, (_, i) => i % 251),
    { at: 0 },
  );
  const digests = await createSectionDigests(sectionsOf(LAYOUT));
  for (const { offset, length } of sectionsOf(LAYOUT))
    digests.add(file.bytes.slice(offset, offset + length), offset);
  const read = vi.spyOn(file, 'read');
  const onRead = vi.fn<(numBytes: number) => void>();
  const onDamage = vi.fn<() => void>();
  const options = { file, layout: LAYOUT, digests: digests.finish(), onRead, onDamage };
  return { file, read, onRead, onDamage, weights: new StoredWeights(options) };
}

/** Called for each of a tensor's sections. */
const createHasher = vi.hoisted(() => vi.fn<() => void>());

vi.mock('./stored-digest.ts', async (importOriginal) => {
  const { createStoredHasher, ...others } = await importOriginal<typeof StoredDigest>();
  return {
    ...others,
    createStoredHasher: () => {
      createHasher();
      return createStoredHasher();
    },
  };
});

describe('stored weights', () => {
  it('have the code of their digests before they are read', async () => {
    createHasher.mockClear();
    const { weights } = await createStored();
    expect(createHasher).toHaveBeenCalledTimes(3);
    await weights.stream(() => {});
    expect(createHasher).toHaveBeenCalledTimes(3);
  });

  it('are read a section at a time, when a part of it is asked for, into the same memory', async () => {
    const { file, read, onRead, weights: stored } = await createStored();
    const weights = await stored.bytes();
    expect([weights.byteLength, read.mock.calls.length]).toEqual([LAYOUT.size, 0]);
    const [values, scales] = sectionsOf(LAYOUT);
    const first = weights.subarray(0, 32);
    expect([...first]).toEqual([...file.bytes.subarray(0, 32)]);
    expect([...weights.subarray(64, 160)]).toEqual([...file.bytes.subarray(64, 160)]);
    expect(onRead.mock.calls).toEqual([[values?.length]]);
    const at = scales?.offset ?? 0;
    const other = weights.subarray(at, at + 20);
    expect([...other]).toEqual([...file.bytes.subarray(at, at + 20)]);
    expect(other.buffer).toBe(first.buffer);
  });

  it('are refused where one bit is another one or the end is missing, and only there', async () => {
    const { file, onDamage, weights: stored } = await createStored();
    const [values, , , norm] = sectionsOf(LAYOUT);
    const at = (values?.length ?? 0) - 1;
    file.write(Uint8Array.of((file.bytes[at] ?? 0) ^ 1), { at });
    file.truncate(LAYOUT.size - 1);
    const weights = await stored.bytes();
    const [, scales] = sectionsOf(LAYOUT);
    expect(weights.subarray(scales?.offset ?? 0, (scales?.offset ?? 0) + 4)).toHaveLength(4);
    expect(onDamage).not.toHaveBeenCalled();
    // A part before the damage is refused with its section.
    expect(() => weights.subarray(0, 32)).toThrow('damaged');
    expect(() => weights.subarray(0, 32)).toThrow('damaged');
    expect(() => weights.subarray(norm?.offset ?? 0, (norm?.offset ?? 0) + 4)).toThrow('damaged');
    expect(onDamage).toHaveBeenCalledTimes(3);
  });

  it('come row by row, with the parts of each row together, and whole', async () => {
    const { file, onRead, weights } = await createStored();
    const copy = new Uint8Array(LAYOUT.size);
    const names: string[] = [];
    await weights.stream((rows) => {
      names.push(rows.tensor.name);
      writeRows(rows, (bytes, at) => copy.set(bytes, at));
    });
    expect(new Set(names)).toEqual(new Set(['embedding', 'norm']));
    for (const { offset, length } of sectionsOf(LAYOUT))
      expect(copy.subarray(offset, offset + length)).toEqual(file.bytes.subarray(offset, offset + length));
    const numBytes = sectionsOf(LAYOUT).reduce((sum, { length }) => sum + length, 0);
    expect(onRead.mock.calls.flat().reduce((sum, each) => sum + each, 0)).toBe(numBytes);
  });

  it('of more rows than are read together come in order, into the same memory', async () => {
    const layout = layOut([{ name: 'w', role: 'linear', shape: [5000, 64] }], 'q8', 'float32');
    const file = new OpfsFile();
    file.write(
      Uint8Array.from({ length: layout.size }, (_, i) => (i * i) % 251),
      { at: 0 },
    );
    const digests = await createSectionDigests(sectionsOf(layout));
    for (const { offset, length } of sectionsOf(layout))
      digests.add(file.bytes.slice(offset, offset + length), offset);
    const options = { file, layout, digests: digests.finish(), onRead: () => {}, onDamage: () => {} };
    let numRows = 0;
    const buffers = new Set<ArrayBuffer>();
    await new StoredWeights(options).stream(({ firstRow, numRows: count, parts: [values] }) => {
      expect(firstRow).toBe(numRows);
      expect(values).toEqual(file.bytes.subarray(firstRow * 64, (firstRow + count) * 64));
      numRows += count;
      if (values) buffers.add(values.buffer);
    });
    expect([numRows, buffers.size]).toEqual([5000, 1]);
  });

  it('of all tensors come into the same memory, aligned for floats', async () => {
    const { weights } = await createStored();
    const buffers = new Set<ArrayBuffer>();
    await weights.stream(({ parts }) => {
      for (const { buffer, byteOffset } of parts) {
        buffers.add(buffer);
        expect(byteOffset % 4).toBe(0);
      }
    });
    expect(buffers.size).toBe(1);
  });

  it('are refused once a tensor has come whose bytes are not what was stored', async () => {
    const { file, onDamage, weights } = await createStored();
    file.truncate(LAYOUT.size - 1);
    await expect(weights.stream(() => {})).rejects.toThrow('damaged');
    expect(onDamage).toHaveBeenCalledOnce();
  });
});
