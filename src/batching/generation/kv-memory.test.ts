import { describe, expect, it } from 'vitest';
import { KvMemory, type KvNeed, type KvShape } from './kv-memory.ts';
import { createKvCacheLimits } from './test-support.ts';

function need(overrides: Partial<KvNeed> = {}): KvNeed {
  return { numRows: 1, numStagingRows: 1, length: 1, finalLength: 1, ...overrides };
}

const IDLE = need({ numRows: 0, length: 0, finalLength: 0 });

const bytesOf = ({ numSlots, numStagingRows, capacity }: KvShape): number =>
  (numSlots + numStagingRows) * capacity;

/** One request that comes alone, runs to its last token and ends. */
function runAlone(memory: KvMemory, length: number): KvShape {
  const alone = need({ length, finalLength: length });
  expect(memory.makeRoom(alone)).toBe(true);
  memory.beginStep(alone);
  return memory.reserve(alone);
}

/** The shape after the only request, in a cache of 4 slots and 4 staging rows of 64 tokens whose limit was lowered. */
function shaped(maxBytes: number, finalLength: number): KvShape {
  const memory = new KvMemory(createKvCacheLimits(), Infinity);
  memory.reserve(need({ numRows: 4, numStagingRows: 4, length: 64, finalLength: 64 }));
  memory.limitTo(maxBytes);
  expect(memory.makeRoom(need({ finalLength }))).toBe(true);
  return memory.shape;
}

describe('KvMemory', () => {
  it('holds spare slots against the capacity that an earlier request has left', () => {
    const memory = new KvMemory(createKvCacheLimits(), 200);
    runAlone(memory, 64);
    expect(bytesOf(runAlone(memory, 3))).toBeLessThanOrEqual(200);
  });

  it("stays within the device's limits as within the user's, for all rows and for slots alone", () => {
    for (const limits of [{ maxBytes: 200 }, { maxSlotBytes: 200 }, { maxRows: 3 }].map(
      createKvCacheLimits,
    )) {
      const memory = new KvMemory(limits, Infinity);
      runAlone(memory, 64);
      const shape = runAlone(memory, 3);
      expect(bytesOf(shape)).toBeLessThanOrEqual(limits.maxBytes);
      expect(shape.numSlots * shape.capacity).toBeLessThanOrEqual(limits.maxSlotBytes);
      expect(shape.numSlots).toBeLessThanOrEqual(limits.maxRows ?? Infinity);
    }
  });

  it('stays within its limits where it shrinks to peaks of different moments', () => {
    const memory = new KvMemory(createKvCacheLimits(), 300);
    // The window sees many short rows first, and one long row later.
    const shapes = Array.from({ length: 600 }, (_, step) => {
      const now =
        step % 256 < 128 ? need({ numRows: 8, length: 9, finalLength: 9 }) : need({ finalLength: 96 });
      expect(memory.makeRoom(now)).toBe(true);
      memory.beginStep(now);
      return memory.reserve({ ...now, length: now.finalLength });
    });
    expect(shapes.filter((shape) => bytesOf(shape) > 300)).toEqual([]);
  });

  it('gives spare slots and capacity back as soon as a lowered limit asks for it', () => {
    const memory = new KvMemory(createKvCacheLimits(), Infinity);
    runAlone(memory, 64);
    memory.limitTo(50);
    memory.beginStep(need({ length: 9, finalLength: 16 }));
    expect(memory.shape).toEqual({ numSlots: 2, numStagingRows: 1, capacity: 16, numSnapshots: 0 });
  });

  it('keeps under a lowered limit what runs, and nothing beside it', () => {
    const memory = new KvMemory(createKvCacheLimits(), Infinity);
    const running = need({ numRows: 3, length: 17, finalLength: 64 });
    memory.makeRoom(running);
    memory.reserve(running);
    memory.limitTo(10);
    memory.beginStep(running);
    expect(memory.shape).toEqual({ numSlots: 3, numStagingRows: 1, capacity: 32, numSnapshots: 0 });
    expect(memory.reserve({ ...running, length: 33 })).toEqual({
      numSlots: 3,
      numStagingRows: 1,
      capacity: 48,
      numSnapshots: 0,
    });
    memory.beginStep(IDLE);
    expect(memory.reservedBytes).toBe(0);
  });

  it('gives up spare staging rows first, then slots, then capacity: rows of earlier requests serve as prefixes', () => {
    expect(shaped(8 * 64, 16)).toEqual({ numSlots: 4, numStagingRows: 4, capacity: 64, numSnapshots: 0 });
    expect(shaped(5 * 64, 16)).toEqual({ numSlots: 4, numStagingRows: 1, capacity: 64, numSnapshots: 0 });
    expect(shaped(3 * 64, 16)).toEqual({ numSlots: 2, numStagingRows: 1, capacity: 64, numSnapshots: 0 });
    expect(shaped(64, 16)).toEqual({ numSlots: 3, numStagingRows: 1, capacity: 16, numSnapshots: 0 });
    expect(shaped(192, 96)).toEqual({ numSlots: 1, numStagingRows: 1, capacity: 64, numSnapshots: 0 });
  });

  it('says no to what can never fit beside what runs, and gives nothing back for it', () => {
    const memory = new KvMemory(createKvCacheLimits(), 5 * 16);
    const { numSlots } = runAlone(memory, 16);
    expect(numSlots).toBe(4);
    expect(memory.makeRoom(need({ numRows: 2, finalLength: 64 }))).toBe(false);
    expect(memory.shape.numSlots).toBe(4);
  });
});
