import { describe, expect, it } from 'vitest';

import type { ByteTextStream } from './text-stream.ts';
import { Vocabulary } from './vocabulary.ts';
import { errorWith } from '../../testing/error-with.ts';

const GPT2 = {
  model: { type: 'BPE', vocab: { H: 0, i: 1, Ġ: 2, Ã: 3, '©': 4, Ġupon: 5, Ċ: 6, '<|endoftext|>': 7 } },
  added_tokens: [
    { id: 7, content: '<|endoftext|>', special: true },
    { id: 8, content: '<think>', special: false },
    { id: 9, content: '日 本' },
  ],
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true },
};
const LLAMA = {
  model: {
    type: 'BPE',
    vocab: {
      '<s>': 0,
      '▁Hi': 1,
      '▁there': 2,
      '<0xC3>': 3,
      '<0xA9>': 4,
      '▁': 5,
      '!': 6,
      '<0x0A>': 7,
      '▁▁': 8,
    },
  },
  added_tokens: [
    { id: 0, content: '<s>', special: true },
    { id: 8, content: '▁▁', special: false },
  ],
  decoder: {
    type: 'Sequence',
    decoders: [
      { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
      { type: 'ByteFallback' },
      { type: 'Fuse' },
      { type: 'Strip', content: ' ', start: 1, stop: 0 },
    ],
  },
};

function textOf(stream: ByteTextStream, tokenIds: readonly number[]): string {
  return tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end();
}

describe.each([
  ['byte-level', GPT2],
  ['SentencePiece', LLAMA],
])('a %s vocabulary', (_, json) => {
  it('spells every token as the file does, and an id without a token as nothing', () => {
    const vocabulary = new Vocabulary(json);
    for (const [token, id] of Object.entries(json.model.vocab)) expect(vocabulary.spell(id)).toBe(token);
    for (const { id, content } of json.added_tokens) expect(vocabulary.spell(id)).toBe(content);
    expect([-1, 99, 0.5].map((id) => vocabulary.spell(id))).toEqual(['', '', '']);
  });
});

describe('byte-level tokens', () => {
  const vocabulary = new Vocabulary(GPT2);

  it('decode to characters of several tokens, with special tokens spelled out', () => {
    expect(vocabulary.decode([0, 1, 5, 3, 4, 7, 6])).toBe('Hi uponé<|endoftext|>\n');
  });

  it('decode half of a character as U+FFFD, also before a special token', () => {
    expect(vocabulary.decode([3, 7, 3])).toBe('\uFFFD<|endoftext|>\uFFFD');
  });

  it('are text where they are added, unless they are special', () => {
    expect(textOf(vocabulary.createTextStream(false), [8, 7, 9, 99])).toBe('<think>日 本');
  });

  it('keep their first space', () => {
    expect(vocabulary.decode([5])).toBe(' upon');
    expect(textOf(vocabulary.createTextStream(true), [5])).toBe(' upon');
  });
});

describe('tokens of SentencePiece', () => {
  const vocabulary = new Vocabulary(LLAMA);

  it('lose the space that was added before a whole text, and keep it in a continuation', () => {
    expect(textOf(vocabulary.createTextStream(true), [0, 1, 2])).toBe('Hi there');
    expect(textOf(vocabulary.createTextStream(false), [1, 2])).toBe(' Hi there');
    expect(vocabulary.decode([1, 2])).toBe('Hi there');
  });

  it('keep the space after a special token that is spelled out', () => {
    expect(vocabulary.decode([0, 1])).toBe('<s> Hi');
  });

  it('join single bytes to characters, and give U+FFFD where there is none', () => {
    const stream = vocabulary.createTextStream(false);
    expect([3, 4, 7, 3, 6].map((id) => stream.push(id))).toEqual(['', 'é', '\n', '', '\uFFFD!']);
    expect(vocabulary.decode([4, 3])).toBe('\uFFFD\uFFFD');
  });

  it('replace the sign for a space in added tokens, too', () => {
    expect(vocabulary.decode([6, 8, 6])).toBe('!  !');
  });
});

it('knows the longest token, also of more than 200,000', () => {
  const entries = Array.from({ length: 300_000 }, (_, id) => [`t${id}`, id] as const);
  const json = { ...GPT2, model: { type: 'BPE', vocab: Object.fromEntries(entries) }, added_tokens: [] };
  expect(new Vocabulary(json).maxTokenLength).toBe('t299999'.length);
  expect(new Vocabulary(GPT2).maxTokenLength).toBe('<|endoftext|>'.length);
});

describe('rejects as damaged', () => {
  it.each([
    ['a file without a vocabulary', { model: {} }, /no model.vocab/],
    ['a file that holds null', null, /no model.vocab/],
    ['a vocabulary whose ids are no numbers', { ...GPT2, model: { vocab: { H: 'x' } } }, /tokens to ids/],
    ['a vocabulary with a negative id', { ...GPT2, model: { vocab: { H: -1 } } }, /tokens to ids/],
    ['added tokens without an id', { ...GPT2, added_tokens: [{ content: '<s>' }] }, /tokens to ids/],
  ])('%s', (_, json, detail) => {
    expect(() => new Vocabulary(json)).toThrow(errorWith('MODEL_FILE_CORRUPT', detail));
  });
});

it('joins the pieces of WordPiece to words', () => {
  const vocab = { hello: 0, world: 1, '##s': 2, '!': 3 };
  const decoder = { type: 'WordPiece', prefix: '##' };
  const vocabulary = new Vocabulary({ model: { type: 'WordPiece', vocab }, decoder });
  expect(vocabulary.decode([0, 1, 2, 3])).toBe('hello worlds !');
});

describe('does not decode wrongly, but refuses', () => {
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };

  it.each([
    ['Unigram', { ...LLAMA, model: { type: 'Unigram', vocab: [['▁', -1]] } }, /type "Unigram"/],
    ['an old file of Unigram, without a type', { ...LLAMA, model: { vocab: [['▁', -1]] } }, /type "Unigram"/],
    ['a file without a decoder', { ...GPT2, decoder: null }, /decodes by null/],
    ['the decoder of WordPiece', { ...GPT2, decoder: { type: 'WordPiece', prefix: '##' } }, /"WordPiece"/],
    ['a strip of each token', { ...LLAMA, decoder: { type: 'Sequence', decoders: [strip] } }, /"Strip"/],
    [
      'byte-level within a sequence',
      { ...GPT2, decoder: { type: 'Sequence', decoders: [{ type: 'Fuse' }, GPT2.decoder] } },
      /"ByteLevel"/,
    ],
  ])('%s', (_, json, detail) => {
    expect(() => new Vocabulary(json)).toThrow(errorWith('UNSUPPORTED_MODEL', detail));
  });
});
