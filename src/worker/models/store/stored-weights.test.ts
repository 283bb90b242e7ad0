import { describe, expect, it, vi } from 'vitest';
import { layOut, sectionsOf } from '../checkpoint/packed-weights.ts';
import { createSectionDigests } from './stored-digest.ts';
import { checkedWeights } from './stored-weights.ts';
import { MemoryFile } from './test-support.ts';

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
  const file = new MemoryFile();
  file.bytes = Uint8Array.from({ length: LAYOUT.size }, (_, i) => i % 251);
  const digests = await createSectionDigests(sectionsOf(LAYOUT));
  for (const { offset, length } of sectionsOf(LAYOUT))
    digests.add(file.bytes.slice(offset, offset + length), offset);
  const read = vi.spyOn(file, 'read');
  const onRead = vi.fn<(numBytes: number) => void>();
  const onDamage = vi.fn<() => void>();
  const open = () => checkedWeights(file, LAYOUT, digests.finish(), { onRead, onDamage });
  return { file, read, onRead, onDamage, open };
}

describe('stored weights', () => {
  it('are read a section at a time, when a part of it is asked for, into the same memory', async () => {
    const { file, read, onRead, open } = await createStored();
    const weights = await open();
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
    const { file, onDamage, open } = await createStored();
    const [values, , , norm] = sectionsOf(LAYOUT);
    const at = (values?.length ?? 0) - 1;
    file.bytes[at] = (file.bytes[at] ?? 0) ^ 1;
    file.truncate(LAYOUT.size - 1);
    const weights = await open();
    const [, scales] = sectionsOf(LAYOUT);
    expect(weights.subarray(scales?.offset ?? 0, (scales?.offset ?? 0) + 4)).toHaveLength(4);
    expect(onDamage).not.toHaveBeenCalled();
    // A part before the damage is refused with its section.
    expect(() => weights.subarray(0, 32)).toThrow('damaged');
    expect(() => weights.subarray(0, 32)).toThrow('damaged');
    expect(() => weights.subarray(norm?.offset ?? 0, (norm?.offset ?? 0) + 4)).toThrow('damaged');
    expect(onDamage).toHaveBeenCalledTimes(3);
  });
});
