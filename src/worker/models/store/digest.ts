import { createSHA1, createSHA256 } from 'hash-wasm';
import type { FileDigest, HubFile } from '../hub/hub-snapshot.ts';

/** A digest of a file that comes in pieces; the platform's digests need it whole. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** Whether the bytes so far have the expected digest. */
  matches(): boolean;
}

export async function createDigest({
  size,
  digest,
}: Pick<HubFile, 'size' | 'digest'>): Promise<RunningDigest> {
  const hasher = await hasherOf(digest.algorithm);
  hasher.init();
  // A git blob id covers a header with kind and length.
  if (digest.algorithm === 'git-blob') hasher.update(`blob ${size}\0`);
  return {
    update: (bytes) => void hasher.update(bytes),
    matches: () => hasher.digest() === digest.hex,
  };
}

function hasherOf(algorithm: FileDigest['algorithm']) {
  return algorithm === 'sha256' ? createSHA256() : createSHA1();
}
