import { expect, it } from 'vitest';

import reference from '../../../../tools/reference/fixtures/gguf-ends-reference.json' with { type: 'json' };
import { endTokenIds } from './end-tokens.ts';
import { openTiny } from './test-support.ts';

it.each(reference)('$tokens end a generation where llama.cpp says so', ({ tokens, ends }) => {
  const ids = endTokenIds({
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.eos_token_id': tokens.length - 2,
  });
  expect(ids.toSorted((a, b) => a - b).map((id) => tokens[id])).toEqual(ends);
});

it('keys name ends of any text, in 64 bits too', async () => {
  const metadata = { 'tokenizer.ggml.eos_token_id': 1n, 'tokenizer.ggml.eot_token_id': 2 };
  expect((await openTiny({ metadata })).generationConfig).toMatchObject({ eos_token_id: [1, 2, 4] });
});
