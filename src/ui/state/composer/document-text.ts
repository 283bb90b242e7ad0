/** A run of characters that are all written or all generated. */
export interface Segment {
  readonly text: string;
  readonly isGenerated: boolean;
}

/** Prompt and continuations as one text, of which parts were generated. */
export interface DocumentText {
  readonly text: string;
  /** The whole text, in which written and generated parts alternate; none is empty. */
  readonly segments: readonly Segment[];
}

export function writtenText(text: string): DocumentText {
  return documentOf([{ text, isGenerated: false }]);
}

/** The document with a continuation at its end. */
export function withContinuation({ segments }: DocumentText, continuation: string): DocumentText {
  return documentOf([...segments, { text: continuation, isGenerated: true }]);
}

/**
 * The document after an edit of its text. Typed characters count as written, even inside a generated part. The edit is taken to
 * be the shortest one that starts where the new text first differs.
 */
export function withEdit({ text, segments }: DocumentText, edited: string): DocumentText {
  const max = Math.min(text.length, edited.length);
  const start = countWhile(max, (index) => text[index] === edited[index]);
  const numSame = countWhile(max - start, (index) => text.at(-1 - index) === edited.at(-1 - index));
  const typed = { text: edited.slice(start, edited.length - numSame), isGenerated: false };
  const end = text.length - numSame;
  return documentOf([...cut(segments, 0, start), typed, ...cut(segments, end, text.length)]);
}

function documentOf(parts: readonly Segment[]): DocumentText {
  const segments: Segment[] = [];
  for (const part of parts) {
    const last = segments.at(-1);
    if (part.text === '') continue;
    if (last?.isGenerated === part.isGenerated)
      segments.splice(-1, 1, { ...part, text: last.text + part.text });
    else segments.push(part);
  }
  return { text: segments.map(({ text }) => text).join(''), segments };
}

/** The parts of the segments from `start` up to but not including `end`, in UTF-16 units of the whole text. */
function cut(segments: readonly Segment[], start: number, end: number): readonly Segment[] {
  let position = 0;
  return segments.map(({ text, isGenerated }) => {
    const from = position;
    position += text.length;
    return { text: text.slice(Math.max(0, start - from), Math.max(0, end - from)), isGenerated };
  });
}

function countWhile(max: number, isSame: (index: number) => boolean): number {
  let count = 0;
  while (count < max && isSame(count)) count += 1;
  return count;
}
