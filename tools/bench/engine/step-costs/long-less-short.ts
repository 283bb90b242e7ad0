/** Totals of one run of requests. */
export type RunTotals<Name extends string> = Readonly<Record<Name | 'numSteps', number>>;

/**
 * Totals per decode step: those of a long run minus those of a short run of the same requests. Everything that is not a decode
 * step cancels out.
 */
export function longLessShort<Name extends string>(
  long: RunTotals<Name>,
  short: RunTotals<Name>,
): (name: Name) => number {
  const numSteps = long.numSteps - short.numSteps;
  if (numSteps <= 0) {
    throw new Error(`Expected the long run to have more than ${short.numSteps} steps, got ${long.numSteps}`);
  }
  return (name) => (long[name] - short[name]) / numSteps;
}
