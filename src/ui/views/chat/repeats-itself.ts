/** The longest repeated part that is looked for, in characters. */
const MAX_PART = 500;

/** A part of a few words may stand often in a list or a table, so short ones need more repeats. */
const MIN_REPEATS = 4;
const MIN_LENGTH = 240;

/**
 * Whether the text ends in one part again and again, word for word: at least four times, and over 240 characters or more. Parts without a letter,
 * as rules, blank lines and the lines of a table's head, don't count.
 */
export function repeatsItself(text: string): boolean {
  const tail = text.slice(-MAX_PART);
  const lastLetter = Math.max(0, tail.search(/\p{L}\P{L}*$/u));
  for (let length = tail.length - lastLetter; length <= tail.length; length++) {
    const required = Math.max(MIN_LENGTH, MIN_REPEATS * length);
    if (required <= text.length && hasPeriod(text, length, required)) return /\p{L}/u.test(tail);
  }
  return false;
}

/** Whether the last `span` characters are one part of this length, repeated. */
function hasPeriod(text: string, length: number, span: number): boolean {
  const start = text.length - span;
  for (let index = text.length - 1; index >= start + length; index--)
    if (text[index] !== text[index - length]) return false;
  return true;
}
