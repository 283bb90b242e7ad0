/** A part of a text, from `start` up to but not including `end`, in UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Prompt and continuations as one text, of which parts were generated. */
export interface DocumentText {
  readonly text: string;
  /** In order, not touching each other, none empty. */
  readonly generated: readonly TextRange[];
}

/** A run of characters that are all written or all generated. */
export interface Segment {
  readonly text: string;
  readonly isGenerated: boolean;
}

export function writtenText(text: string): DocumentText {
  return { text, generated: [] };
}

/** The document with a continuation at its end. */
export function withContinuation({ text, generated }: DocumentText, continuation: string): DocumentText {
  if (continuation === '') return { text, generated };
  const end = text.length + continuation.length;
  const last = generated.at(-1);
  const isAdjacent = last?.end === text.length;
  const kept = isAdjacent ? generated.slice(0, -1) : generated;
  return {
    text: text + continuation,
    generated: [...kept, { start: isAdjacent ? last.start : text.length, end }],
  };
}

/**
 * The document after an edit of its text. Typed characters count as written, even inside a generated part. The edit is taken to
 * be the shortest one that starts where the new text first differs.
 */
export function withEdit({ text, generated }: DocumentText, edited: string): DocumentText {
  const start = commonPrefixLength(text, edited);
  const numSame = commonSuffixLength(text, edited, Math.min(text.length, edited.length) - start);
  const end = text.length - numSame;
  const shift = edited.length - text.length;
  const before = generated.map((range) => ({ start: range.start, end: Math.min(range.end, start) }));
  const after = generated.map((range) => ({
    start: Math.max(range.start, end) + shift,
    end: range.end + shift,
  }));
  return { text: edited, generated: mergeTouching([...before, ...after].filter(isNotEmpty)) };
}

/** The whole text, split into written and generated runs. */
export function segmentsOf({ text, generated }: DocumentText): readonly Segment[] {
  const segments: Segment[] = [];
  let position = 0;
  const push = (end: number, isGenerated: boolean): void => {
    if (end > position) segments.push({ text: text.slice(position, end), isGenerated });
    position = end;
  };
  for (const { start, end } of generated) {
    push(start, false);
    push(end, true);
  }
  push(text.length, false);
  return segments;
}

function isNotEmpty({ start, end }: TextRange): boolean {
  return end > start;
}

function mergeTouching(ranges: readonly TextRange[]): readonly TextRange[] {
  const merged: TextRange[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last?.end === range.start) merged[merged.length - 1] = { start: last.start, end: range.end };
    else merged.push(range);
  }
  return merged;
}

function commonPrefixLength(a: string, b: string): number {
  const max = Math.min(a.length, b.length);
  let length = 0;
  while (length < max && a[length] === b[length]) length += 1;
  return length;
}

function commonSuffixLength(a: string, b: string, max: number): number {
  let length = 0;
  while (length < max && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}
