/** More names than this would hide the one that was meant. */
const MAX_LISTED = 8;

/** The text after "Unknown option `x`: ". */
export function describeKnown(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'there are no options';
  return known.length > MAX_LISTED
    ? `the nearest of ${known.length} is ${nearestName(name, known)}`
    : `the options are ${known.join(', ')}`;
}

/** The first of the names that the fewest changes of a letter lead to. Case and underscores don't count. */
function nearestName(name: string, known: readonly string[]): string {
  const wanted = plain(name);
  let [nearest, fewest] = ['', Infinity];
  for (const candidate of known) {
    const numChanges = countChanges(wanted, plain(candidate));
    if (numChanges < fewest) [nearest, fewest] = [candidate, numChanges];
  }
  return nearest;
}

/** A long name is near to none. */
function plain(name: string): string {
  return name.slice(0, 64).toLowerCase().replaceAll('_', '');
}

/** Levenshtein's distance. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
