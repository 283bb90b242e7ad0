import { describe, expect, it } from 'vitest';
import { safetensorsFile } from '../../testing/safetensors-builder.ts';
import { countParameters } from '../program/model-config.ts';
import type { CheckpointFiles } from '../formats/checkpoint-files.ts';
import { openCheckpoint, readModelFiles } from './open-checkpoint.ts';
import { filesOf, TINY_CONFIG, tinyFiles, tinyTensors } from '../../testing/tiny-checkpoint.ts';
import { errorWith } from '../../testing/error-with.ts';

const MASK = { dtype: 'F32', shape: [1, 1, 16, 16] } as const;

describe('openCheckpoint', () => {
  it('refuses a tokenizer with ids beyond the embedding, before the weights are read', async () => {
    const tokenizer = {
      model: { type: 'BPE', vocab: { zzz: 4000 }, merges: [] },
      decoder: { type: 'ByteLevel' },
    };
    await expect(openCheckpoint(tinyFiles(tinyTensors(), { 'tokenizer.json': tokenizer }))).rejects.toThrow(
      errorWith('MODEL_FILE_CORRUPT', 'zzz has the id 4000, and the embedding has 20 rows'),
    );
  });

  it('finds every tensor of the forward pass under its name without a prefix', async () => {
    const prefixed = Object.fromEntries(
      Object.entries(tinyTensors()).map(([name, spec]) => [`transformer.${name}`, spec]),
    );
    for (const tensors of [tinyTensors(), prefixed]) {
      const checkpoint = await openCheckpoint(tinyFiles(tensors));
      expect([...checkpoint.tensors.keys()]).toEqual(Object.keys(tinyTensors()));
      expect(countParameters(checkpoint.model.program.weights)).toBe(
        20 * 64 + 16 * 64 + 12 * 64 * 64 + 13 * 64 + 2 * 64,
      );
    }
  });

  it('leaves out the causal masks, and nothing else of the file', async () => {
    const { 'wte.weight': wte, ...rest } = tinyTensors();
    if (!wte) throw new Error('There is no embedding.');
    const tensors = {
      'wte.weight': wte,
      'h.0.attn.bias': MASK,
      'h.0.attn.masked_bias': { dtype: 'F32', shape: [] },
      ...rest,
    } as const;
    const { weightFiles } = await openCheckpoint(tinyFiles(tensors));
    const [weights] = weightFiles;
    const [mask] = weights?.skippedTensors ?? [];
    expect(mask).toMatchObject(MASK);
    expect(weights?.neededRanges).toEqual([
      { begin: 0, end: mask?.begin },
      { begin: mask?.end, end: weights?.file.size },
    ]);
  });

  it("does not take the attention's own bias for a mask", async () => {
    const { weightFiles } = await openCheckpoint(tinyFiles());
    expect(weightFiles[0]?.skippedTensors).toEqual([]);
  });

  it('reads a checkpoint in shards', async () => {
    const entries = Object.entries(tinyTensors());
    const shards = {
      'model-00001-of-00002.safetensors': Object.fromEntries(entries.slice(0, 5)),
      'model-00002-of-00002.safetensors': Object.fromEntries(entries.slice(5)),
    };
    const weightMap = Object.entries(shards).flatMap(([file, tensors]) =>
      Object.keys(tensors).map((name) => [name, file]),
    );
    const checkpoint = await openCheckpoint(
      tinyFiles(undefined, {
        ...Object.fromEntries(Object.entries(shards).map(([name, part]) => [name, safetensorsFile(part)])),
        'model.safetensors': undefined,
        'model.safetensors.index.json': { weight_map: Object.fromEntries(weightMap) },
      }),
    );
    expect(checkpoint.tensors.size).toBe(entries.length);
    expect(checkpoint.weightFiles.map(({ file }) => file.name)).toEqual(Object.keys(shards));
  });

  it('reads an output embedding where it is not tied, and else leaves it', async () => {
    const untied = { ...TINY_CONFIG, tie_word_embeddings: false };
    const files = { 'config.json': untied, 'model.safetensors': safetensorsFile(tinyTensors(untied)) };
    expect((await openCheckpoint(tinyFiles({}, files))).tensors.has('lm_head.weight')).toBe(true);
    expect((await openCheckpoint(tinyFiles(tinyTensors(untied)))).tensors.has('lm_head.weight')).toBe(false);
  });

  it.each([
    ['in its first values', {}, (i: number) => i],
    ['in its form', { dtype: 'F16', bytes: new Uint8Array(2 * 20 * 64) }, () => 0],
  ] as const)(
    'refuses a head beside an embedding that is tied to it, but differs %s',
    async (_, change, valueAt) => {
      const { 'lm_head.weight': head } = tinyTensors({ ...TINY_CONFIG, tie_word_embeddings: false }, valueAt);
      if (!head) throw new Error('There is no head.');
      const tensors = { ...tinyTensors(), 'lm_head.weight': { ...head, ...change } };
      await expect(openCheckpoint(tinyFiles(tensors))).rejects.toEqual(
        errorWith(
          'UNSUPPORTED_MODEL',
          /lm_head\.weight .*set tie_word_embeddings, or LFM2's tie_embedding, to false/,
        ),
      );
    },
  );

  it.each([
    ['rope_finetuned', { model_type: 'granite', rope_finetuned: false }],
    ['rope_local_base_freq', { model_type: 'olmo3', rope_local_base_freq: 100 }],
    ['rope_scaling', { model_type: 'mistral3', text_config: { rope_scaling: { rope_type: 'factors' } } }],
  ])('refuses %s of a GGUF file in config.json', async (field, config) => {
    await expect(readModelFiles(tinyFiles({}, { 'config.json': config }))).rejects.toEqual(
      errorWith('UNSUPPORTED_MODEL', new RegExp(`^[^.]*${field} in config.json .*GGUF`)),
    );
  });

  it('makes a tokenizer of vocab.json and merges.txt where there is no tokenizer.json', async () => {
    const { tokenizer, tokenizerConfig } = await openCheckpoint(
      tinyFiles(undefined, {
        'tokenizer.json': undefined,
        'vocab.json': { H: 0, i: 1, Hi: 2, '<|endoftext|>': 3 },
        'merges.txt': new TextEncoder().encode('#version: 0.2\nH i\n'),
      }),
    );
    expect(tokenizer).toMatchObject({
      added_tokens: [{ id: 3, special: true }],
      model: { type: 'BPE', merges: ['H i'] },
    });
    expect(tokenizerConfig).toEqual({});
  });
});

describe('reads', () => {
  it('nothing but the configuration of a model that it cannot run', async () => {
    const { files, opened } = recorded(tinyFiles(undefined, { 'config.json': { model_type: 'rwkv' } }));
    await expect(openCheckpoint(files)).rejects.toMatchObject({ code: 'UNSUPPORTED_MODEL' });
    expect(opened).toEqual(['config.json', 'generation_config.json']);
  });

  it('no weights of a checkpoint that lacks a shard, but headers', async () => {
    const [first, second] = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'];
    const { files, numBytes } = recorded(
      tinyFiles(undefined, {
        'model.safetensors': undefined,
        [first]: safetensorsFile(tinyTensors()),
        'model.safetensors.index.json': { weight_map: { 'wte.weight': first, 'ln_f.weight': second } },
      }),
    );
    await expect(openCheckpoint(files)).rejects.toEqual(errorWith('MODEL_FILE_MISSING', second));
    expect(numBytes()).toBeLessThan(5000);
  });
});

describe('rejects', () => {
  const LN = 'h.0.ln_1.weight';

  it.each([
    ['a missing tensor', without(LN), 'MODEL_FILE_CORRUPT', /tensor h.0.ln_1.weight is missing/],
    [
      'a tensor of another shape, naming both',
      { ...tinyTensors(), [LN]: { dtype: 'F32', shape: [65] } as const },
      'MODEL_FILE_CORRUPT',
      /shape \[65\], but config.json asks for \[64\]/,
    ],
    [
      'a tensor of a dtype that is not for weights',
      { ...tinyTensors(), [LN]: { dtype: 'F64', shape: [64] } as const },
      'UNSUPPORTED_MODEL',
      /stored as F64/,
    ],
  ])('%s', async (_, tensors, code, detail) => {
    await expect(openCheckpoint(tinyFiles(tensors))).rejects.toEqual(errorWith(code, detail));
  });

  it.each([
    ['config.json', /config.json/],
    ['tokenizer.json', /tokenizer.json/],
    ['model.safetensors', /model.safetensors/],
  ])('a folder without %s', async (name, detail) => {
    await expect(openCheckpoint(tinyFiles(undefined, { [name]: undefined }))).rejects.toEqual(
      errorWith('MODEL_FILE_MISSING', detail),
    );
  });

  it.each([
    ['no map', {}],
    ['a path into another folder', { weight_map: { a: '../secret.safetensors' } }],
    ['a file of another kind', { weight_map: { a: 'model.bin' } }],
  ])('an index of shards with %s', async (_, index) => {
    const files = { 'model.safetensors': undefined, 'model.safetensors.index.json': index };
    await expect(openCheckpoint(tinyFiles(undefined, files))).rejects.toMatchObject({
      code: 'MODEL_FILE_CORRUPT',
    });
  });

  it('an index that names a shard that there is not', async () => {
    const index = { weight_map: { a: 'model-00001-of-00001.safetensors' } };
    const files = { 'model.safetensors': undefined, 'model.safetensors.index.json': index };
    await expect(openCheckpoint(tinyFiles(undefined, files))).rejects.toMatchObject({
      code: 'MODEL_FILE_MISSING',
    });
  });

  it('JSON that does not parse', async () => {
    const files = filesOf({ 'config.json': new TextEncoder().encode('<!doctype html>') });
    await expect(openCheckpoint(files)).rejects.toEqual(errorWith('MODEL_FILE_CORRUPT', 'config.json'));
  });
});

function without(name: string) {
  const { [name]: _, ...rest } = tinyTensors();
  return rest;
}

/** Records which files were opened, and how much of the weight files was read. */
function recorded(checkpoint: CheckpointFiles) {
  const opened: string[] = [];
  let numBytes = 0;
  const files: CheckpointFiles = {
    async open(name) {
      opened.push(name);
      const file = await checkpoint.open(name);
      if (!file || !name.endsWith('.safetensors')) return file;
      return {
        ...file,
        read(begin, end) {
          numBytes += end - begin;
          return file.read(begin, end);
        },
      };
    },
  };
  return { files, opened, numBytes: () => numBytes };
}

describe('a model for whole texts', () => {
  const BERT = {
    model_type: 'bert',
    vocab_size: 100,
    hidden_size: 64,
    num_hidden_layers: 1,
    num_attention_heads: 4,
    intermediate_size: 128,
    max_position_embeddings: 32,
    type_vocab_size: 2,
  };
  const MODULES = [{ type: 'sentence_transformers.models.Pooling' }];
  const DENSE = [...MODULES, { type: 'sentence_transformers.models.Dense' }];
  const [MAX, MEAN] = [{ pooling_mode_max_tokens: true }, { pooling_mode_mean_tokens: true }];
  const LABELS = { architectures: ['BertForSequenceClassification'], id2label: { 0: 'no', 1: 'yes' } };

  it.each([
    ['an unknown pooling', MODULES, MAX, {}, 'UNSUPPORTED_MODEL', 'asks for pooling_mode_max_tokens, which'],
    [
      'two poolings at once',
      MODULES,
      { ...MAX, ...MEAN },
      {},
      'UNSUPPORTED_MODEL',
      'max_tokens, pooling_mode_mean',
    ],
    ['no pooling', MODULES, {}, {}, 'UNSUPPORTED_MODEL', 'asks for no pooling'],
    ['no file for its pooling', MODULES, undefined, {}, 'MODEL_FILE_CORRUPT', '1_Pooling/config.json'],
    ['a layer behind its pooling', DENSE, MEAN, {}, 'UNSUPPORTED_MODEL', 'names Dense'],
    ['several labels', undefined, undefined, LABELS, 'UNSUPPORTED_MODEL', 'names 2 labels'],
  ])('is refused with %s', async (_, modules, pooling, change, code, message) => {
    const files = filesOf({
      'config.json': { ...BERT, ...change },
      ...(modules && { 'modules.json': modules }),
      ...(pooling && { '1_Pooling/config.json': pooling }),
    });
    await expect(readModelFiles(files)).rejects.toThrow(errorWith(code, message));
  });
});
