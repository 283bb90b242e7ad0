import { importPart } from '../../platform/import-part.ts';
import type { SyncFile } from './sync-file.ts';

const CHUNK_BYTES = 2 ** 20;

/**
 * Of the first `size` bytes of a file, in hexadecimal: xxHash64, which is faster than a disk. It finds what a disk or a crash
 * has damaged; against who writes to this site's storage on purpose there is none.
 */
export async function digestOf(file: SyncFile, size: number): Promise<string> {
  // On demand: a browser that has stored nothing never asks for it.
  const { createXXHash64 } = await importPart(() => import('hash-wasm'));
  const hasher = (await createXXHash64()).init();
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const wanted = chunk.subarray(0, Math.min(CHUNK_BYTES, size - at));
    hasher.update(wanted.subarray(0, file.read(wanted, { at })));
  }
  return hasher.digest();
}
