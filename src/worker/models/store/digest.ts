import { createSHA1, createSHA256, type IHasher } from 'hash-wasm';
import type { HubFile } from '../hub/hub-snapshot.ts';

/** An empty digest, to which the file's bytes are added in pieces. The platform's own digests need the whole file at once. */
export async function createDigest({ size, digest }: Pick<HubFile, 'size' | 'digest'>): Promise<IHasher> {
  if (digest.algorithm === 'sha256') return (await createSHA256()).init();
  // A git blob id covers a header with kind and length.
  return (await createSHA1()).init().update(`blob ${size}\0`);
}
