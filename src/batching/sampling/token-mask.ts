import { at } from './top-k.ts';

/** The tokens that may be sampled: bit `id % 32` of word `id / 32`. Tokens behind the last word may not. */
export type TokenMask = Uint32Array;

const BITS_PER_WORD = 32;
const ALL = 0xffff_ffff;

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
  for (let word = 0, from = 0; from < logits.length; word += 1, from += BITS_PER_WORD) {
    const bits = mask[word] ?? 0;
    if (bits === ALL) continue;
    const to = Math.min(from + BITS_PER_WORD, logits.length);
    for (let id = from; id < to; id += 1) if (bits === 0 || !isAllowed(mask, id)) logits[id] = -Infinity;
  }
}
