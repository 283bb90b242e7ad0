/** Whether all cases run, and properties as often as they should before a release: FULL=1. Otherwise a part of them. */
export const IS_WHOLE = Boolean(process.env['FULL']);

/** The first of random cases, and of those of a part. The configuration of Vitest prints it, and SEED=… repeats it. */
export const SEED = Number(process.env['SEED'] ?? 0);

/** How often a property runs. For an overnight run: PROPERTY_RUNS=20000. fast-check prints a failure's seed. */
export function runsOf({ whole, part }: Readonly<Record<'whole' | 'part', number>>): number {
  return Number(process.env['PROPERTY_RUNS'] ?? (IS_WHOLE ? whole : part));
}

/** Of cases that run the same code, `count` by the seed, or all of a whole run. */
export function someOf<Case>(cases: readonly Case[], count: number, seed = SEED): readonly Case[] {
  if (IS_WHOLE) return cases;
  const from = seed % cases.length;
  return [...cases, ...cases].slice(from, from + Math.min(count, cases.length));
}
