import { expect, it } from 'vitest';
import { digestOf } from './stored-digest.ts';
import { MemoryFile } from './test-support.ts';

function fileOf(bytes: Uint8Array): MemoryFile {
  const file = new MemoryFile();
  file.write(bytes, { at: 0 });
  return file;
}

it('is that of xxHash64', async () => {
  // The test vector of its reference implementation for no bytes and seed 0.
  expect(await digestOf(fileOf(new Uint8Array()), 0)).toBe('ef46db3751d8e999');
});

it('differs where one bit does, wherever it is, and where bytes are missing', async () => {
  const bytes = Uint8Array.from({ length: 2 ** 20 + 1000 }, (_, index) => index % 251);
  const { length } = bytes;
  const digest = await digestOf(fileOf(bytes), length);
  expect(await digestOf(fileOf(bytes), length)).toBe(digest);
  for (const at of [0, 2 ** 20, length - 1]) {
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(await digestOf(fileOf(damaged), length), `bit of byte ${at}`).not.toBe(digest);
  }
  expect(await digestOf(fileOf(bytes.subarray(0, -1)), length)).not.toBe(digest);
});
