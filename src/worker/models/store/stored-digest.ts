import { importPart } from '../../import-part.ts';
import type { SyncFile } from './opfs.ts';

const CHUNK_BYTES = 2 ** 20;

/**
 * The xxHash64 of the first `size` bytes of a file, in hexadecimal. It is faster than a disk. It detects damage by a disk or a
 * crash, not deliberate changes to this site's storage.
 */
export async function digestOf(file: SyncFile, size: number): Promise<string> {
  // Loaded on demand: only browsers with a stored model need it.
  const { createXXHash64 } = await importPart(() => import('hash-wasm'));
  const hasher = (await createXXHash64()).init();
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const wanted = chunk.subarray(0, Math.min(CHUNK_BYTES, size - at));
    hasher.update(wanted.subarray(0, file.read(wanted, { at })));
  }
  return hasher.digest();
}
