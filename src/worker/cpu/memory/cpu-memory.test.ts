import { describe, expect, it } from 'vitest';
import { CpuMemory } from './cpu-memory.ts';

describe('CpuMemory', () => {
  it('gives blocks that lie apart, aligned and behind what kernels keep', () => {
    const memory = new CpuMemory(100);
    const [a, b] = [memory.allocate(10), memory.allocate(65)];
    expect([a, b]).toEqual([
      { address: 128, length: 64 },
      { address: 192, length: 128 },
    ]);
  });

  it('grows by what is missing, and keeps what it holds', () => {
    const memory = new CpuMemory(0);
    const block = memory.allocate(8);
    memory.floatsAt(block.address, 2).set([1, 2]);
    memory.allocate(10 * 2 ** 16);
    expect(memory.byteLength).toBe(11 * 2 ** 16);
    expect([...memory.floatsAt(block.address, 2)]).toEqual([1, 2]);
  });

  it('gives freed blocks out again, those that touch as one', () => {
    const memory = new CpuMemory(0, 2 ** 16);
    const blocks = Array.from({ length: 4 }, () => memory.allocate(2 ** 14));
    for (const index of [0, 2, 1]) memory.free(blocks[index] ?? { address: 0, length: 0 });
    expect(memory.allocate(3 * 2 ** 14)).toEqual({ address: 0, length: 3 * 2 ** 14 });
    expect(memory.byteLength).toBe(2 ** 16);
  });

  it('keeps a block whose successor finds no room', () => {
    const memory = new CpuMemory(0, 2 ** 16);
    const block = memory.allocate(2 ** 15);
    expect(() => memory.replace(block, 2 ** 33)).toThrow(RangeError);
    expect(memory.allocate(2 ** 15)).not.toEqual(block);
    expect(memory.replace(block, 2 ** 14)).toEqual({ address: block.address, length: 2 ** 14 });
  });

  it('says what it cannot grow to, in words that tell of memory', () => {
    expect(() => new CpuMemory(0).allocate(2 ** 33)).toThrow(
      /allocation failed: it can't grow to 8\d\d\d MB/,
    );
  });
});
