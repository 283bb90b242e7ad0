import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';

/** The syntax that the grammar library doesn't enforce, or understands in another way. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\(\?(?!:)/, 'looks around, or names a group'],
  [/\\[1-9k]/, 'refers back to a group'],
  [/\\[bB]/, 'has a word boundary'],
  [/\\[pP]/, 'has a property of characters'],
  [/(?:[*+?]|\{\d+(?:,\d*)?\})[?+]/, 'has a lazy quantifier'],
  [/[\^$]/, 'has an anchor inside'],
];

/** A count of repetitions makes as many states of the grammar, and those inside each other multiply. */
const MAX_REPETITIONS = 1000;

/** Of one part. The library follows larger counts in so many ways at once that a token takes 50 ms and more. */
export const MAX_COUNT = 128;

/** Escapes, classes and dots. */
const ATOM = /\\[^]|\[(?:\\.|[^\]\\])*\]|\./gu;

/** The library's dot includes line ends. Of JavaScript's four, the mask leaves out the two beyond ASCII. */
const DOT = String.raw`[^\n\r]`;

/** The pattern without the anchors around it, in the library's syntax. @throws ResponseFormatUnsupportedError. */
export function checkPattern(pattern: unknown, param: string): string {
  const refuse = (reason: string, remedy: string): ResponseFormatUnsupportedError =>
    ResponseFormatUnsupportedError.of(param, reason, remedy);
  if (typeof pattern !== 'string') throw refuse('is no string', 'write a regular expression');
  try {
    // oxlint-disable-next-line no-new -- only its syntax is checked
    new RegExp(pattern, 'u');
  } catch (error) {
    throw refuse(`is no regular expression (${error instanceof Error ? error.message : ''})`, 'correct it');
  }
  const inner = pattern.replace(/^\^/, '').replace(/(?<!\\)((?:\\\\)*)\$$/, '$1');
  // What stands in a class or behind a backslash means itself.
  const skeleton = inner.replaceAll(/\\[^1-9kbBpP]/g, 'x').replaceAll(/\[(?:\\.|[^\]\\])*\]/g, 'x');
  const refused = REFUSED.find(([syntax]) => syntax.test(skeleton));
  if (refused) throw refuse(`can't be enforced: it ${refused[1]}`, 'write it without');
  if (costOf(skeleton) > MAX_REPETITIONS)
    throw refuse(`repeats more than ${MAX_REPETITIONS} times`, 'use smaller counts, or * and +');
  if (countsIn(skeleton).some((count) => count > MAX_COUNT))
    throw refuse(
      `has a count of more than ${MAX_COUNT}`,
      'use a smaller count, * or +; in a JSON Schema, minLength and maxLength may be larger',
    );
  return inner.replaceAll(ATOM, (atom) => (atom === '.' ? DOT : atom));
}

/** The larger number of each count in braces. */
export function countsIn(skeleton: string): readonly number[] {
  return Array.from(skeleton.matchAll(/\{\s*(\d+)\s*(?:,\s*(\d*)\s*)?\}/g), ([, from, to]) =>
    Math.max(Number(from), Number(to ?? 0)),
  );
}

/** The characters of the longest branch when all counts are written out. */
function costOf(skeleton: string): number {
  const costs = [0];
  let last = 0;
  for (const [part, , from, to] of skeleton.matchAll(/(\{(\d+)(?:,(\d*))?\})|[^]/gu)) {
    if (part === '(') {
      costs.push(0);
      last = 0;
    } else if (part === ')') {
      last = costs.pop() ?? 0;
      costs.push((costs.pop() ?? 0) + last);
    } else if (from !== undefined) {
      const total = (costs.pop() ?? 0) + last * (Math.max(Number(from), Number(to ?? 0)) - 1);
      costs.push(total);
    } else {
      last = 1;
      costs.push((costs.pop() ?? 0) + 1);
    }
  }
  return costs.reduce((sum, cost) => sum + cost, 0);
}
