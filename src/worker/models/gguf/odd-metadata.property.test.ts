import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { toWireError } from '../../../protocol/wire-errors.ts';
import type { MetadataValue } from '../../testing/gguf-builder.ts';
import { createTokenizer } from '../tokenizer/tokenizer.ts';
import { openGguf, tinyGguf } from './test-support.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

/** Keys that the loader looks up. */
const KEYS = [
  'general.architecture',
  'general.alignment',
  'general.sampling.temp',
  'llama.context_length',
  'llama.embedding_length',
  'llama.block_count',
  'llama.feed_forward_length',
  'llama.vocab_size',
  'llama.attention.head_count',
  'llama.attention.head_count_kv',
  'llama.attention.key_length',
  'llama.attention.layer_norm_rms_epsilon',
  'llama.attention.sliding_window',
  'llama.rope.freq_base',
  'llama.rope.dimension_count',
  'llama.rope.scaling.type',
  'llama.rope.scaling.factor',
  'llama.rope.scaling.original_context_length',
  'llama.rope.scale_linear',
  ...[
    'model',
    'pre',
    'tokens',
    'token_type',
    'scores',
    'merges',
    'bos_token_id',
    'eos_token_id',
    'unknown_token_id',
    'add_bos_token',
    'add_eos_token',
    'add_space_prefix',
  ].map((name) => `tokenizer.ggml.${name}`),
  'tokenizer.chat_template',
  '__proto__',
  'constructor',
];

const text = fc.oneof(
  fc.constantFrom('', '__proto__', 'constructor', 'toString', 'llama', 'gpt2', 'yarn', 'a b', 'ab', '▁'),
  fc.string({ maxLength: 8 }),
);
const number = fc.oneof(
  fc.constantFrom(0, 1, 0.5, 3, 2 ** 31, 2 ** 32 - 1, 1e30, Number.NaN, Infinity),
  fc.nat(40),
  fc.float(),
);
const value: fc.Arbitrary<MetadataValue> = fc.oneof(
  number,
  text,
  fc.boolean(),
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.array(text, { maxLength: 6 }),
  fc.array(fc.nat(9), { maxLength: 6 }),
  fc.array(fc.boolean(), { maxLength: 6 }),
);

/** Why the file does not load, or that it does. */
async function outcomeOf(changes: readonly (readonly [string, MetadataValue])[]): Promise<string> {
  try {
    const { tokenizer, tokenizerConfig } = await openGguf(
      tinyGguf({ metadata: Object.fromEntries(changes) }),
    );
    const built = await createTokenizer(tokenizer, tokenizerConfig);
    built.encode('ab a b');
    return 'loaded';
  } catch (error) {
    return toWireError(error).code;
  }
}

it('metadata of any type is read, or refused with a code that names what is wrong', async () => {
  const changes = fc.array(fc.tuple(fc.constantFrom(...KEYS), value), { minLength: 1, maxLength: 3 });
  const outcomes: string[] = [];
  await fc.assert(
    fc.asyncProperty(changes, async (given) => {
      const outcome = await outcomeOf(given);
      outcomes.push(outcome);
      expect(outcome).toMatch(/^(?:loaded|MODEL_FILE_CORRUPT|UNSUPPORTED_MODEL)$/);
    }),
    { numRuns: runsOf({ whole: 1000, part: 200 }) },
  );
  expect(outcomes.filter((outcome) => outcome === 'loaded').length).toBeGreaterThan(outcomes.length / 20);
}, 60_000);

it.each(['__proto__', 'constructor', 'toString'])('a token named %s has its id', async (token) => {
  const tokens = ['<s>', token, 'x', 'y', '</s>'];
  const metadata = {
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': [3, 4, 1, 1, 3],
    'tokenizer.ggml.merges': [],
  };
  const { tokenizer, tokenizerConfig } = await openGguf(tinyGguf({ metadata }));
  const built = await createTokenizer(tokenizer, tokenizerConfig);
  expect(built.encode(`x${token}y`)).toEqual([2, 1, 3]);
});
