import { expect, it } from 'vitest';

import { endTokenIds } from './end-tokens.ts';
import { openTiny } from './test-support.ts';

const endsOf = (tokens: readonly string[], ids: Readonly<Record<string, number>> = {}) =>
  endTokenIds({
    'tokenizer.ggml.tokens': tokens,
    ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [`tokenizer.ggml.${name}_token_id`, id])),
  }).map((id) => tokens[id]);

// As `llama_vocab` of llama.cpp 0.3.36's vendored source prints them ("printing all EOG tokens").
it('an early Llama 3, whose keys name <|end_of_text|> alone, ends at its turns too', () => {
  const tokens = [
    'a',
    '<|begin_of_text|>',
    '<|end_of_text|>',
    '<|start_header_id|>',
    '<|eot_id|>',
    '<|eom_id|>',
  ];
  expect(endsOf(tokens, { eos: 2 })).toEqual(['<|end_of_text|>', '<|eot_id|>', '<|eom_id|>']);
});

it.each([
  [
    ['<|endoftext|>', '<|im_start|>', '<|im_end|>'],
    ['<|endoftext|>', '<|im_end|>'],
  ],
  [
    ['<bos>', '<eos>', '<start_of_turn>', '<end_of_turn>'],
    ['<eos>', '<end_of_turn>'],
  ],
  [
    ['<|system|>', '<|user|>', '<|end|>', '<|endoftext|>'],
    ['<|end|>', '<|endoftext|>'],
  ],
  [['<s>', '</s>', '<unk>'], ['</s>']],
  [['<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>'], ['<｜end▁of▁sentence｜>']],
  // There, `<|end|>` ends a part of an answer.
  [
    ['<|start|>', '<|end|>', '<|return|>', '<|call|>'],
    ['<|return|>', '<|call|>'],
  ],
  [
    ['<|end|>', '<|flush|>', '<|calls|>'],
    ['<|flush|>', '<|calls|>'],
  ],
  [
    ['</s>', '<turn|>', '<|tool_response>'],
    ['<turn|>', '<|tool_response>'],
  ],
])('tokens of %j that end a generation by their text', (tokens, ends) => {
  expect(endsOf(tokens)).toEqual(ends);
});

it('keys name ends of any text, in 64 bits too', async () => {
  const metadata = { 'tokenizer.ggml.eos_token_id': 1n, 'tokenizer.ggml.eot_token_id': 2 };
  expect((await openTiny({ metadata })).generationConfig).toMatchObject({ eos_token_id: [1, 2, 4] });
});
