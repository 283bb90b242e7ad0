import { createReadStream } from 'node:fs';

/** A line of a file, without its newline. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Where it starts in the file, in bytes. */
  readonly offset: number;
  /** In bytes. */
  readonly length: number;
  /** Undefined for a line that is longer than `maxBytes`. */
  readonly bytes: Buffer | undefined;
  /** False for a last line without a newline. */
  readonly isWhole: boolean;
}

const NEWLINE = 0x0a;

/** The lines of a file of any size. One line at a time is in memory. */
export async function* readLines(path: string, maxBytes = Infinity): AsyncGenerator<Line> {
  const chunks: AsyncIterable<Buffer> = createReadStream(path);
  let [number, offset, length] = [1, 0, 0];
  let pieces: Buffer[] = [];
  const hold = (piece: Buffer): void => {
    length += piece.length;
    if (length <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const end = (isWhole: boolean): Line => {
    const bytes = length <= maxBytes ? Buffer.concat(pieces) : undefined;
    const line = { number, offset, length, bytes, isWhole };
    number += 1;
    offset += length + Number(isWhole);
    [pieces, length] = [[], 0];
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, at));
      yield end(true);
      start = at + 1;
    }
    hold(chunk.subarray(start));
  }
  if (length > 0) yield end(false);
}
