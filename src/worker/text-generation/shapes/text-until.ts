import type { Expression, Expressions, Rule } from './expressions.ts';

/** A text that ends free text, and what comes behind it. */
export interface TextEnd {
  readonly text: string;
  readonly behind: Expression;
}

const BYTES = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

/** Any text until one of these, the first that comes. @param mayEnd Whether it may also end without one. */
export function textUntil(ends: readonly TextEnd[], mayEnd: boolean, make: Expressions): Expression {
  const marks = ends.map(({ text, behind }) => ({ bytes: spelled(text), behind }));
  /** What a mark begins with, the shortest first. */
  const beginnings = [
    ...new Set(marks.flatMap(({ bytes }) => Array.from(bytes, (_, at) => bytes.slice(0, at)))),
  ];
  const places = new Map<string, { readonly rule: Rule; readonly next: readonly Expression[] }>();
  const rules = new Map(['', ...beginnings].map((begun) => [begun, make.rule('free text')]));
  const start = rules.get('') ?? make.rule('free text');
  for (const begun of [...rules.keys()].toSorted((a, b) => a.length - b.length)) {
    const rule = rules.get(begun) ?? start;
    // Where a text no longer goes on as a mark, another mark may have begun in it.
    const suffixes = Array.from(begun, (_, at) => begun.slice(at + 1));
    const shorter = places.get(suffixes.find((suffix) => places.has(suffix)) ?? '');
    const next = BYTES.map((byte, index) => {
      const text = begun + byte;
      const ended = marks.filter(({ bytes }) => text.endsWith(bytes)).map(({ behind }) => behind);
      if (ended.length > 0) return make.choice(ended);
      return rules.get(text) ?? shorter?.next[index] ?? start;
    });
    places.set(begun, { rule, next });
    const byNext = Map.groupBy(next.keys(), (byte) => next[byte] ?? start);
    rule.body = make.choice([
      ...(mayEnd ? [make.empty] : []),
      ...Array.from(byNext, ([follows, bytes]) => make.sequence([make.bytes(bytes), follows])),
    ]);
  }
  return start;
}

/** A character for each byte. */
function spelled(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => BYTES[byte]).join('');
}
