import { expect, it } from 'vitest';
import { lazyBytes } from './packed-source.ts';

it('lazy bytes are read when they are asked for, and not before', () => {
  const file = Uint8Array.from({ length: 100 }, (_, i) => i);
  const reads: number[] = [];
  const bytes = lazyBytes(file.byteLength, (begin, end) => {
    reads.push(begin);
    return file.subarray(begin, end);
  });
  expect(bytes).toBeInstanceOf(Uint8Array);
  expect(bytes.byteLength).toBe(100);
  expect(reads).toEqual([]);
  expect([...bytes.subarray(10, 13)]).toEqual([10, 11, 12]);
  expect([...bytes.subarray(50, 52)]).toEqual([50, 51]);
  expect(reads).toEqual([10, 50]);
});
