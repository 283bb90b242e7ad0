import { describe, expect, it } from 'vitest';

import { ByteTextStream } from './text-stream.ts';

/** The bytes of each token. 😀 is split in its four bytes, é in two. */
const BYTES = new Map(
  [[0x48], [0x69], [0x20], [0xc3], [0xa9], [0xf0], [0x9f], [0x98], [0x80], [0x48, 0x69]].map((bytes, id) => [
    id,
    Uint8Array.from(bytes),
  ]),
);

function createStream(numAddedSpaces?: number) {
  return new ByteTextStream((id) => BYTES.get(id), numAddedSpaces);
}

describe('ByteTextStream', () => {
  it('gives text as tokens come', () => {
    const stream = createStream();
    expect([9, 2, 0].map((id) => stream.push(id))).toEqual(['Hi', ' ', 'H']);
    expect(stream.end()).toBe('');
  });

  it('holds a character back until its last byte', () => {
    const stream = createStream();
    expect([3, 4].map((id) => stream.push(id))).toEqual(['', 'é']);
    expect([5, 6, 7, 8].map((id) => stream.push(id))).toEqual(['', '', '', '😀']);
  });

  it('ends an incomplete character as U+FFFD', () => {
    const stream = createStream();
    expect(stream.push(3)).toBe('');
    expect(stream.end()).toBe('\uFFFD');
  });

  it('shows nothing for special and unknown tokens', () => {
    const stream = createStream();
    expect([10, 999, 1].map((id) => stream.push(id))).toEqual(['', '', 'i']);
  });

  it('drops only the spaces that the tokenizer has added at the beginning', () => {
    const stream = createStream(1);
    expect([2, 2, 0, 2].map((id) => stream.push(id))).toEqual(['', ' ', 'H', ' ']);
    const withoutSpace = createStream(1);
    expect([0, 2].map((id) => withoutSpace.push(id))).toEqual(['H', ' ']);
    const withTwo = createStream(2);
    expect([2, 2, 2].map((id) => withTwo.push(id))).toEqual(['', '', ' ']);
  });
});
