import { at } from './top-k.ts';

/** The tokens that may be sampled: bit `id % 32` of word `id / 32`. Tokens behind the last word may not. */
export type TokenMask = Uint32Array;

const BITS_PER_WORD = 32;

/** A mask of a vocabulary that allows no token. */
export function emptyMask(vocabSize: number): TokenMask {
  return new Uint32Array(Math.ceil(vocabSize / BITS_PER_WORD));
}

export function allowToken(mask: TokenMask, tokenId: number): void {
  const word = tokenId >>> 5;
  mask[word] = at(mask, word) | (1 << (tokenId % BITS_PER_WORD));
}

export function forbidToken(mask: TokenMask, tokenId: number): void {
  const word = tokenId >>> 5;
  mask[word] = at(mask, word) & ~(1 << (tokenId % BITS_PER_WORD));
}

export function isAllowed(mask: TokenMask, tokenId: number): boolean {
  return (((mask[tokenId >>> 5] ?? 0) >>> (tokenId % BITS_PER_WORD)) & 1) === 1;
}

/** Makes the tokens that may not be sampled impossible, in place. */
export function maskLogits(logits: Float32Array, mask: TokenMask): void {
  for (let id = 0; id < logits.length; id += 1) if (!isAllowed(mask, id)) logits[id] = -Infinity;
}
