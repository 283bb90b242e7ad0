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

/** The seed of this run: printed, and taken from the environment where a run is to be repeated. */
export function runSeed(): number {
  const seed = Number(process.env['E2E_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`    seed ${seed}: repeat it with E2E_SEED=${seed}`);
  return seed;
}
