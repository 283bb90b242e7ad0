import { describe, expect, it } from 'vitest';
import { ByteTextStream, readTokenBytes } from './text-stream.ts';

/** Each byte of UTF-8 as one token, spelled in byte-level characters. */
const TOKENIZER = {
  model: { vocab: { H: 0, i: 1, Ġ: 2, Ã: 3, '©': 4, ð: 5, Ł: 6, ĺ: 7, Ģ: 8, Hi: 9, '<|endoftext|>': 10 } },
  added_tokens: [{ id: 10, content: '<|endoftext|>', special: true }],
};

function createStream() {
  return new ByteTextStream(readTokenBytes(TOKENIZER));
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
});

describe('rejects', () => {
  it.each([
    ['a tokenizer without a vocabulary', { model: {} }, /no model.vocab/],
    ['a file that holds null', null, /no model.vocab/],
    ['a vocabulary that is not byte-level', { model: { vocab: { '▁Hi': 0 } } }, /`▁Hi`/],
  ])('%s', (_, json, detail) => {
    expect(() => readTokenBytes(json)).toThrow(
      expect.objectContaining({ code: 'MODEL_FILE_CORRUPT', message: expect.stringMatching(detail) }),
    );
  });
});
