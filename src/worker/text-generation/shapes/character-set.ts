import type { Expression, Expressions } from './expressions.ts';

/** Code points from the first of each pair to its second, in order. */
export type Ranges = readonly (readonly [from: number, to: number])[];

const LAST = 0x10_ffff;

/** By how many bytes a character has in UTF-8, without surrogates. */
const BANDS: Ranges = [
  [0, 0x7f],
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x1_0000, LAST],
];

export const ALL: Ranges = [[0, LAST]];

export function union(ranges: Ranges): Ranges {
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

export function complement(ranges: Ranges): Ranges {
  const merged = union(ranges);
  const starts = [0, ...merged.map(([, to]) => to + 1)];
  return starts.flatMap((from, index): Ranges => {
    const to = (merged[index]?.[0] ?? LAST + 1) - 1;
    return from <= to ? [[from, to]] : [];
  });
}

export function without(ranges: Ranges, excluded: Ranges): Ranges {
  return complement([...complement(ranges), ...excluded]);
}

function isIn(ranges: Ranges, codePoint: number): boolean {
  return ranges.some(([from, to]) => codePoint >= from && codePoint <= to);
}

/** One character of a text. */
export function characterOf(make: Expressions, ranges: Ranges): Expression {
  return make.characterOnce(`c${String(ranges)}`, () => {
    const inBands = BANDS.flatMap(([first, last]) =>
      ranges.map(([from, to]) => [Math.max(from, first), Math.min(to, last)] as const),
    );
    const spans = inBands.filter(([from, to]) => from <= to);
    const sequences = spans.flatMap(([from, to]) => {
      const least = bytesOf(from);
      return sequencesBetween(least, from === to ? least : bytesOf(to));
    });
    return ofSequences(make, sequences);
  });
}

type ByteRanges = readonly (readonly [number, number])[];

const encoder = new TextEncoder();

function bytesOf(codePoint: number): readonly number[] {
  return Array.from(encoder.encode(String.fromCodePoint(codePoint)));
}

/** The bytes of the characters between two with as many bytes, position by position. */
function sequencesBetween(low: readonly number[], high: readonly number[]): readonly ByteRanges[] {
  const [[first = 0, ...lows], [last = 0, ...highs]] = [low, high];
  if (lows.length === 0) return [[[first, last]]];
  const behind = (from: number, to: number, rests: readonly ByteRanges[]): readonly ByteRanges[] =>
    from > to ? [] : rests.map((rest) => [[from, to], ...rest]);
  const [least, most] = [lows.map(() => 0x80), lows.map(() => 0xbf)];
  if (first === last) return behind(first, last, sequencesBetween(lows, highs));
  const isFromLeast = lows.every((byte) => byte === 0x80);
  const isToMost = highs.every((byte) => byte === 0xbf);
  return [
    ...(isFromLeast ? [] : behind(first, first, sequencesBetween(lows, most))),
    ...behind(isFromLeast ? first : first + 1, isToMost ? last : last - 1, sequencesBetween(least, most)),
    ...(isToMost ? [] : behind(last, last, sequencesBetween(least, highs))),
  ];
}

/** One way for each byte at this place. The bytes before it are the same. */
function ofSequences(make: Expressions, sequences: readonly ByteRanges[], place = 0): Expression {
  const ofByte = new Map<number, number[]>();
  for (const [index, sequence] of sequences.entries()) {
    const [from, to] = sequence[place] ?? [1, 0];
    for (let byte = from; byte <= to; byte += 1) {
      const known = ofByte.get(byte);
      if (known) known.push(index);
      else ofByte.set(byte, [index]);
    }
  }
  const groups = Map.groupBy(ofByte.entries(), ([, indices]) => String(indices));
  const branches = Array.from(groups.values(), (group) => {
    const rests = (group[0]?.[1] ?? []).map((index) => sequences[index] ?? []);
    const isLast = rests.some(({ length }) => length === place + 1);
    const bytes = group.map(([byte]) => byte);
    return make.sequence([
      make.bytes(bytes, place > 0),
      isLast ? make.empty : ofSequences(make, rests, place + 1),
    ]);
  });
  return make.choice(branches);
}

/** Characters that may follow a backslash in a JSON string. */
const ESCAPED: Ranges = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
];

/** One character of a string of JSON, as `JSON.stringify` writes it. */
export function jsonCharacterOf(make: Expressions, ranges: Ranges): Expression {
  return make.characterOnce(`j${String(ranges)}`, () => {
    const escapes = ESCAPED.flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index)
        .filter((codePoint) => isIn(ranges, codePoint))
        .map((codePoint) => make.text(JSON.stringify(String.fromCodePoint(codePoint)).slice(1, -1))),
    );
    return make.choice([characterOf(make, without(ranges, ESCAPED)), ...escapes]);
  });
}

/** Any character of a string of JSON, in any of its spellings. Two escapes may be one character. */
export function anyJsonCharacter(make: Expressions): Expression {
  const oneOf = (characters: string): Expression =>
    characterOf(
      make,
      Array.from(characters, (character) => [codeOf(character), codeOf(character)] as const),
    );
  const hex = oneOf('0123456789abcdefABCDEF');
  const escape = make.choice([
    oneOf(String.raw`"\/bfnrt`),
    make.sequence([make.text('u'), oneOf('0123456789abcefABCEF'), hex, hex, hex]),
    make.sequence([make.text('u'), oneOf('dD'), oneOf('01234567'), hex, hex]),
    make.sequence([
      make.sequence([make.text('u'), oneOf('dD'), oneOf('89abAB'), hex, hex]),
      make.sequence([make.text(String.raw`\u`), oneOf('dD'), oneOf('cdefCDEF'), hex, hex]),
    ]),
  ]);
  return make.characterOnce('any', () =>
    make.choice([characterOf(make, complement(ESCAPED)), make.sequence([make.text('\\'), escape])]),
  );
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
