import { expect, it } from 'vitest';

import { readTokenBytes } from '../../text-generation/text-stream.ts';
import { Vocabulary } from './vocabulary.ts';

const TOKENIZER = {
  model: { vocab: { H: 0, i: 1, Ġ: 2, Ã: 3, '©': 4, Ġupon: 5, Ċ: 6, '<|endoftext|>': 7 } },
  added_tokens: [{ id: 7, content: '<|endoftext|>', special: true }],
};

const vocabulary = new Vocabulary(readTokenBytes(TOKENIZER), TOKENIZER);

it('spells every token as the file does, and an id without a token as nothing', () => {
  const spelled = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((id) => vocabulary.spell(id));
  expect(spelled).toEqual([...Object.keys(TOKENIZER.model.vocab), '']);
});

it('decodes characters of several tokens, and spells special tokens out', () => {
  expect(vocabulary.decode([0, 1, 5, 3, 4, 7, 6])).toBe('Hi uponé<|endoftext|>\n');
});

it('decodes half of a character as U+FFFD, also before a special token', () => {
  expect(vocabulary.decode([3, 7, 3])).toBe('\uFFFD<|endoftext|>\uFFFD');
});
