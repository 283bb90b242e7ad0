import { createSHA1, createSHA256 } from 'hash-wasm';
import type { FileDigest, HubFile } from '../hub/hub-snapshot.ts';

/** Takes in a file piece by piece: the platform's own digests want it whole. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** Whether all bytes together are the file that the digest names. */
  matches(): boolean;
}

export async function createDigest({
  size,
  digest,
}: Pick<HubFile, 'size' | 'digest'>): Promise<RunningDigest> {
  const hasher = await hasherOf(digest.algorithm);
  hasher.init();
  // A git blob's id is that of its kind and length, too.
  if (digest.algorithm === 'git-blob') hasher.update(`blob ${size}\0`);
  return {
    update: (bytes) => void hasher.update(bytes),
    matches: () => hasher.digest() === digest.hex,
  };
}

function hasherOf(algorithm: FileDigest['algorithm']) {
  return algorithm === 'sha256' ? createSHA256() : createSHA1();
}
