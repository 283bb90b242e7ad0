import * as v from 'valibot';

import { asInUnicode16 } from './characters.ts';
import { compilePattern } from './bounded-patterns.ts';
import type { Pattern } from './tokenizer-parts.ts';

export const splitBehavior = v.picklist([
  'Removed',
  'Isolated',
  'MergedWithPrevious',
  'MergedWithNext',
  'Contiguous',
]);
export type SplitBehavior = v.InferOutput<typeof splitBehavior>;

/** Parts of a text, one after another, and whether each is a delimiter. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly isMatch: boolean;
}

export interface Splitting {
  readonly behavior: SplitBehavior;
  /** Whether what lies between matches delimits. */
  readonly invert?: boolean;
}

/** Finds all matches of an expression. */
export interface Matcher {
  readonly expression: RegExp;
  /** The text as the expression sees it, as long as the given one. */
  readonly sees?: (text: string) => string;
}

/** Cuts a text into pieces. */
export function splitBy(matcher: Matcher, { behavior, invert = false }: Splitting) {
  return (text: string): readonly string[] =>
    merged(partsOf(text, matcher, invert), behavior).map(({ start, end }) => text.slice(start, end));
}

/** @throws UnsupportedModelError for a regular expression that can't be used. */
export function matcherOf(pattern: Pattern): Matcher {
  return 'Regex' in pattern
    ? { expression: compilePattern(pattern.Regex), sees: asInUnicode16 }
    : { expression: new RegExp(pattern.String.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'gu') };
}

export function partsOf(text: string, { expression, sees }: Matcher, invert: boolean): readonly Part[] {
  const parts: Part[] = [];
  let last = 0;
  for (const { 0: match, index } of (sees?.(text) ?? text).matchAll(expression)) {
    if (last < index) parts.push({ start: last, end: index, isMatch: invert });
    last = index + match.length;
    parts.push({ start: index, end: last, isMatch: !invert });
  }
  if (last < text.length) parts.push({ start: last, end: text.length, isMatch: invert });
  return parts;
}

function merged(parts: readonly Part[], behavior: SplitBehavior): readonly Part[] {
  switch (behavior) {
    case 'Isolated':
      return parts;
    case 'Removed':
      return parts.filter(({ isMatch }) => !isMatch);
    case 'Contiguous':
      return joined(parts, (part, before) => part.isMatch === before.isMatch);
    case 'MergedWithPrevious':
      return joined(parts, (part, before) => part.isMatch && !before.isMatch);
    case 'MergedWithNext':
      return joined(
        parts.toReversed().map(({ start, end, isMatch }) => ({ start: -end, end: -start, isMatch })),
        (part, before) => part.isMatch && !before.isMatch,
      )
        .toReversed()
        .map(({ start, end, isMatch }) => ({ start: -end, end: -start, isMatch }));
  }
}

/** Joins parts with the one before them. What a joined part then is, is what its last part was. */
function joined(parts: readonly Part[], isJoined: (part: Part, before: Part) => boolean): readonly Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const before = result.at(-1);
    if (before && isJoined(part, before)) result[result.length - 1] = { ...part, start: before.start };
    else result.push(part);
  }
  return result;
}
