import type { Expression, Expressions, Rule } from './expressions.ts';
import type { Work } from './pace.ts';

/** A text that ends free text, and what comes behind it. */
export interface TextEnd {
  readonly text: string;
  readonly behind: Expression;
}

/** Behind a part of such a text, or a whole one. */
interface Place {
  readonly rule: Rule;
  readonly children: Map<number, Place>;
  /** Expressions that may follow; empty while no text has ended. */
  readonly behind: Expression[];
  /** By byte. */
  next: readonly Place[];
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);

/**
 * Any text until one of these, the first that comes: where it no longer goes on as one of them, another may have begun in it (Aho and
 * Corasick).
 *
 * @param mayEnd Whether it may also end without one.
 */
export function* textUntil(ends: readonly TextEnd[], mayEnd: boolean, make: Expressions): Work<Expression> {
  const created = (): Place => ({ rule: make.rule('free text'), children: new Map(), behind: [], next: [] });
  const start = created();
  for (const { text, behind } of ends) {
    let place = start;
    for (const byte of new TextEncoder().encode(text)) {
      const child = place.children.get(byte) ?? created();
      place.children.set(byte, child);
      place = child;
    }
    place.behind.push(behind);
    yield;
  }
  const entryOf = ({ rule, behind }: Place): Expression => (behind.length === 0 ? rule : make.choice(behind));
  /** With the place of the longest other part that each ends with. The short ones come first. */
  const fallback = new Map<Place, Place | undefined>([[start, undefined]]);
  for (const [place, shorter] of fallback) {
    const next = shorter ? [...shorter.next] : BYTES.map(() => start);
    for (const [byte, child] of place.children) {
      const fallen = next[byte] ?? start;
      child.behind.push(...fallen.behind);
      if (child.behind.length === 0) fallback.set(child, fallen);
      next[byte] = child;
    }
    place.next = next;
    const byNext = Map.groupBy(BYTES, (byte) => next[byte] ?? start);
    place.rule.body = make.choice([
      ...(mayEnd ? [make.empty] : []),
      ...Array.from(byNext, ([follows, bytes]) => make.sequence([make.bytes(bytes), entryOf(follows)])),
    ]);
    yield;
  }
  return start.rule;
}
