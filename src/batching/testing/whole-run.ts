/** Whether all cases run, and properties as often as they should before a release: FULL=1. Otherwise a part of them. */
export const IS_WHOLE = Boolean(process.env['FULL']);

/** The first of random cases, and of those of a part. The configuration of Vitest prints it, and SEED=… repeats it. */
export const SEED = integerOf('SEED', 0);

/** How often a property runs. For an overnight run: PROPERTY_RUNS=20000. fast-check prints a failure's seed. */
export function runsOf({ whole, part }: Readonly<Record<'whole' | 'part', number>>): number {
  return integerOf('PROPERTY_RUNS', IS_WHOLE ? whole : part);
}

/** Of cases that run the same code, `count` by the seed, or all of a whole run. */
export function someOf<Case>(cases: readonly Case[], count: number, seed = SEED): readonly Case[] {
  if (IS_WHOLE) return cases;
  const from = seed % cases.length;
  return [...cases, ...cases].slice(from, from + Math.min(count, cases.length));
}

/**
 * @param variable Of the environment.
 * @param otherwise If the variable isn't set.
 */
export function integerOf(variable: string, otherwise: number): number {
  const text = process.env[variable] || otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value < 2 ** 31) return value;
  throw new Error(`Expected ${variable} to be an integer from 0 to ${2 ** 31 - 1}, got \`${text}\`.`);
}
