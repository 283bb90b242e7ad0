/** Bytes of a file, `end` exclusive. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/** The same bytes in order, without overlaps, adjacent or empty ranges. */
export function joinRanges(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const joined: ByteRange[] = [];
  const inOrder = ranges.filter(({ begin, end }) => begin < end).toSorted((a, b) => a.begin - b.begin);
  for (const range of inOrder) {
    const last = joined.at(-1);
    if (!last || last.end < range.begin) joined.push(range);
    else joined[joined.length - 1] = { begin: last.begin, end: Math.max(last.end, range.end) };
  }
  return joined;
}

/** The wanted bytes that are not there yet, in order. */
export function missingRanges(
  wanted: readonly ByteRange[],
  present: readonly ByteRange[],
): readonly ByteRange[] {
  return joinRanges(present).reduce(without, joinRanges(wanted));
}

function without(ranges: readonly ByteRange[], hole: ByteRange): readonly ByteRange[] {
  return ranges
    .flatMap(({ begin, end }) => [
      { begin, end: Math.min(end, hole.begin) },
      { begin: Math.max(begin, hole.end), end },
    ])
    .filter(({ begin, end }) => begin < end);
}

/** Pieces of at most `maxBytes`, in the same order. */
export function splitRanges(ranges: readonly ByteRange[], maxBytes: number): readonly ByteRange[] {
  return ranges.flatMap(({ begin, end }) =>
    Array.from({ length: Math.ceil((end - begin) / maxBytes) }, (_, i) => ({
      begin: begin + i * maxBytes,
      end: Math.min(begin + (i + 1) * maxBytes, end),
    })),
  );
}

/** @param ranges Without overlaps. */
export function bytesIn(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { begin, end }) => sum + end - begin, 0);
}
