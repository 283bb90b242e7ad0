import { describe, expect, it } from 'vitest';
import { createDigest } from './remote-checkpoint.ts';

const text = new TextEncoder().encode('abc');

describe('a running digest', () => {
  it.each([
    // FIPS 180-2, appendix B.1.
    ['sha256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    // printf abc | git hash-object --stdin
    ['git-blob', 'f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f'],
  ] as const)('of %s matches the file that it names, in pieces, and no other', async (algorithm, hex) => {
    const file = { size: text.byteLength, digest: { algorithm, hex } };
    const digest = await createDigest(file);
    digest.update(text.subarray(0, 1));
    digest.update(text.subarray(1));
    expect(digest.digest()).toBe(hex);
    const other = await createDigest(file);
    other.update(text.toReversed());
    expect(other.digest()).not.toBe(hex);
  });
});
