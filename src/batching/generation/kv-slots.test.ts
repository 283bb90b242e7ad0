import { describe, expect, it } from 'vitest';
import { KvSlotPool } from './kv-slots.ts';

function createPool(capacity: number, numAllocated: number) {
  const pool = new KvSlotPool(capacity);
  const slots = Array.from({ length: numAllocated }, () => pool.allocate());
  return { pool, slots };
}

describe('KvSlotPool', () => {
  it('hands out the lowest free slot', () => {
    const { pool, slots } = createPool(4, 3);
    expect(slots).toEqual([0, 1, 2]);
    for (const slot of slots.slice(0, 2)) pool.free(slot);
    expect([pool.allocate(), pool.allocate(), pool.allocate()]).toEqual([0, 1, 3]);
  });

  it('can allocate until as many slots are in use as there are', () => {
    const { pool, slots } = createPool(2, 2);
    expect(pool.canAllocate).toBe(false);
    for (const slot of slots.slice(1)) pool.free(slot);
    expect(pool.canAllocate).toBe(true);
    expect(pool.numInUse).toBe(1);
  });

  it('relocates to a lower slot where one is free, and nowhere else', () => {
    const { pool, slots } = createPool(4, 3);
    const [first, , last] = slots;
    if (first === undefined || last === undefined) throw new Error('unreachable');
    expect(pool.relocate(last)).toBe(2);
    pool.free(first);
    expect(pool.relocate(last)).toBe(0);
    expect(pool.numInUse).toBe(2);
  });

  it('takes no slot in use away when it shrinks, and offers none until enough are free', () => {
    const { pool, slots } = createPool(4, 4);
    pool.resize(2);
    expect(pool.numInUse).toBe(4);
    for (const slot of slots.slice(0, 2)) pool.free(slot);
    expect(pool.canAllocate).toBe(false);
    for (const slot of slots.slice(2, 3)) pool.free(slot);
    expect(pool.canAllocate).toBe(true);
    expect(pool.allocate()).toBe(0);
  });

  it('has more slots at once when it grows', () => {
    const { pool } = createPool(1, 1);
    pool.resize(2);
    expect(pool.canAllocate).toBe(true);
    expect(pool.allocate()).toBe(1);
  });
});
