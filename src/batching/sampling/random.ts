/** Philox2x32's multiplier and key increment. */
export const PHILOX = { multiplier: 0xd256d193, keyIncrement: 0x9e3779b9, numRounds: 10 } as const;

/**
 * Philox2x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3" (SC11); same numbers as their Random123 library. It needs only u32 multiply, add, xor and shift, which WGSL has.
 */
export function philox2x32(
  counter: readonly [low: number, high: number],
  key: number,
): readonly [number, number] {
  let [low, high] = counter;
  let roundKey = key;
  for (let round = 0; round < PHILOX.numRounds; round += 1) {
    const product = Math.imul(PHILOX.multiplier, low);
    low = multiplyHigh(PHILOX.multiplier, low) ^ roundKey ^ high;
    high = product;
    roundKey = (roundKey + PHILOX.keyIncrement) | 0;
  }
  return [low >>> 0, high >>> 0];
}

/**
 * The seed of one of several continuations of a prompt. The first has the request's own seed, so its text doesn't depend on `n`.
 * Seeds are unsigned 32-bit integers.
 */
export function continuationSeed(seed: number, index: number): number {
  // The high word is 1, so these numbers differ from those of `uniform`, whose high word is 0.
  return index === 0 ? seed : philox2x32([index, 1], seed)[0];
}

/**
 * The random number of one position of one sequence: in [0, 1), a multiple of 2^-24, exact in an f32. It depends on
 * nothing else, so a text does not depend on batch-mates, policy or interruption.
 */
export function uniform(seed: number, position: number): number {
  const [bits] = philox2x32([position, 0], seed);
  return (bits >>> 8) / 2 ** 24;
}

/** Upper 32 bits of the 64-bit product, from 16-bit halves: neither JavaScript nor WGSL has it built in. */
export function multiplyHigh(a: number, b: number): number {
  const [aLow, aHigh, bLow, bHigh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = Math.imul(aHigh, bLow) >>> 0;
  const carried = (Math.imul(aLow, bLow) >>> 16) + (middle & 0xffff) + (Math.imul(aLow, bHigh) >>> 0);
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (carried >>> 16)) >>> 0;
}
