import { expect, it } from 'vitest';
import { ChunkedFile } from './chunked-file.ts';

const fileOf = (...chunks: readonly number[][]): ChunkedFile =>
  new ChunkedFile(
    'a',
    chunks.map((chunk) => Uint8Array.from(chunk)),
  );

it('reads over the borders of chunks, and what is there at the end', async () => {
  const file = fileOf([1, 2], [], [3], [4, 5, 6]);
  expect(file.size).toBe(6);
  expect([...(await file.read(1, 4))]).toEqual([2, 3, 4]);
  expect([...(await file.read(4, 9))]).toEqual([5, 6]);
});

it('gives a chunk back once all of it was read, in whatever order, and says so', async () => {
  const file = fileOf([1, 2, 3], [4]);
  await file.read(2, 3);
  await file.read(0, 2);
  await expect(file.read(0, 1)).rejects.toThrow('a was read at 0 before');
  expect([...(await file.read(3, 4))]).toEqual([4]);
});
