import { integerOf, someOf as someBySeed } from '../../src/batching/testing/whole-run.ts';

/** Numbers in [0, 1) that a seed repeats: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of this run, which the set-up prints. Playwright hands the environment to its worker processes. */
export function runSeed(): number {
  process.env['E2E_SEED'] ||= String(Math.floor(Math.random() * 2 ** 31));
  return integerOf('E2E_SEED', 0);
}

/** Of cases that are alike, the short run takes some by its seed. The whole one takes all. */
export function someOf<T>(cases: readonly T[], count: number): readonly T[] {
  return someBySeed(cases, count, runSeed());
}
