/** More names than this would hide the one that was meant. */
const MAX_LISTED = 8;

/** More than this are listed nowhere but in the docs. */
const MAX_LISTED_AT_ALL = 12;

/**
 * The text after "Unknown option `x`: ".
 *
 * @param page Of the docs, which has more names than fit into a message.
 */
export function describeKnown(
  name: string,
  known: readonly string[],
  page = 'docs/generation-options.md',
): string {
  if (known.length === 0) return 'there are no options';
  const nearest = known.length > MAX_LISTED ? nearestName(name, known) : undefined;
  if (nearest !== undefined) return `the nearest of ${known.length} is ${nearest}`;
  if (known.length > MAX_LISTED_AT_ALL) return `see ${page}`;
  return `the options are ${known.join(', ')}`;
}

/** Plain names of one thing in several APIs. */
const SAME = [
  'maxtokens maxcompletiontokens maxoutputtokens maxnewtokens maxlength numpredict npredict',
  'stop stopsequences stopstrings',
  'repetitionpenalty repeatpenalty',
  'messages prompt input text',
  'instructions system systemprompt',
  'responseformat format structuredoutputs jsonschema guidedjson',
  'reasoningeffort effort think',
  'tools functions',
  'toolchoice functioncall',
  'chattemplatekwargs chattemplatearguments',
  'user userid',
].map((names) => names.split(' '));

/**
 * The first of the names that the fewest changes of a letter lead to, from it or from what other APIs call it. Case and
 * underscores don't count. Undefined if more than a third of its letters would change.
 */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  const own = known.map((candidate) => [candidate, plain(candidate)] as const);
  const others = own.flatMap(([candidate, spelling]) => {
    const names = SAME.find((same) => same.includes(spelling)) ?? [];
    return names.map((other) => [candidate, other] as const);
  });
  let nearest: string | undefined;
  let fewest = wanted.length / 3;
  for (const [candidate, spelling] of [...own, ...others]) {
    const numChanges = countChanges(wanted, spelling);
    if (numChanges <= fewest) [nearest, fewest] = [candidate, numChanges - 1];
  }
  return nearest;
}

/** Without the object that it is a part of. A long name is near to none. */
function plain(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/^.*\.|_/g, '');
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
