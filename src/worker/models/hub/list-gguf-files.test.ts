import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { GPU, WASM } from '../checkpoint/test-support.ts';
import { listGgufFiles } from './list-gguf-files.ts';

const REPOSITORY = { hub: 'https://hub', id: 'a/b', revision: 'main' };

/** Bytes of the files of a repository whose model has so many billion weights. */
function hubWith(files: Readonly<Record<string, number>>): void {
  const siblings = Object.entries(files).map(([rfilename, size]) => ({
    rfilename,
    size: 130,
    blobId: 'b',
    lfs: { sha256: 's', size },
  }));
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ sha: 'c', siblings })));
}

beforeEach(() => {
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => {});
});
afterEach(() => void vi.unstubAllGlobals());

it('lists models, smallest first, with the bytes of all their parts', async () => {
  hubWith({
    'config.json': 1,
    'mmproj-f16.gguf': 5,
    'folder/a-Q8_0.gguf': 5,
    'a-F16-00002-of-00002.gguf': 70,
    'a-F16-00001-of-00002.gguf': 100,
    'a.gguf': 9,
  });
  expect(await listGgufFiles(REPOSITORY, WASM)).toEqual([
    { name: 'a.gguf', numBytes: 9 },
    { name: 'a-F16-00001-of-00002.gguf', numBytes: 170, fit: 'fits' },
  ]);
});

it.each([
  // On a CPU, a memory of 4 GiB holds 3.8 billion of 9 bits, and 4.87 billion of 7.
  ['wasm', 3.7, 'fits'],
  ['wasm', 3.9, 'tight'],
  ['wasm', 4.8, 'tight'],
  ['wasm', 4.9, 'too-large'],
  // A file of at most 4 GiB: 2.1 billion of 2 bytes, 5.3 billion of 6.5 bits.
  ['webgpu', 2, 'fits'],
  ['webgpu', 5, 'tight'],
  ['webgpu', 6, 'too-large'],
] as const)('says whether it fits: on %s, %d billion weights: %s', async (kind, billions, fit) => {
  hubWith({ 'a-F16.gguf': 2e9 * billions });
  const [file] = await listGgufFiles(REPOSITORY, kind === 'wasm' ? WASM : GPU);
  expect(file?.fit).toBe(fit);
});
