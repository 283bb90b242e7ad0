import { describe, expect, it } from 'vitest';
import { readGpt2Config } from './config.ts';
import { errorWith } from '../../testing/error-with.ts';

const GPT2 = {
  model_type: 'gpt2',
  activation_function: 'gelu_new',
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 1024,
  vocab_size: 50257,
  layer_norm_epsilon: 1e-5,
  eos_token_id: 50256,
};

const read = (config: Readonly<Record<string, unknown>>) => readGpt2Config(config, undefined);

describe('readGpt2Config', () => {
  it("reads openai-community/gpt2's config", () => {
    expect(read(GPT2)).toEqual({
      vocabSize: 50257,
      contextLength: 1024,
      embeddingSize: 768,
      numLayers: 12,
      numHeads: 12,
      numKvHeads: 12,
      headSize: 64,
      innerSize: 3072,
      layerNormEpsilon: 1e-5,
      activation: 'gelu_tanh',
      attentionScales: Array(12).fill(0.125),
      isHeadSeparate: false,
      eosTokenIds: [50256],
    });
  });

  it('takes n_inner where it is given, several end tokens, and none', () => {
    expect(read({ ...GPT2, n_inner: 1000 }).innerSize).toBe(1000);
    expect(read({ ...GPT2, n_inner: null }).innerSize).toBe(3072);
    expect(read({ ...GPT2, eos_token_id: [1, 2] }).eosTokenIds).toEqual([1, 2]);
    expect(read({ ...GPT2, eos_token_id: null }).eosTokenIds).toEqual([]);
  });

  it('scales attention as the config says', () => {
    expect(scalesWith({ scale_attn_weights: false })).toEqual([1, 1, 1]);
    expect(scalesWith({ scale_attn_by_inverse_layer_idx: true })).toEqual([0.125, 0.0625, 0.125 / 3]);
    expect(scalesWith({ reorder_and_upcast_attn: true })).toEqual([0.125, 0.125, 0.125]);
  });

  it.each([
    ['gelu_pytorch_tanh', 'gelu_tanh'],
    ['gelu', 'gelu_erf'],
    ['relu', 'relu'],
    ['swish', 'silu'],
  ])('knows the activation %s as %s', (name, activation) => {
    expect(read({ ...GPT2, activation_function: name }).activation).toBe(activation);
  });

  it('takes an output embedding of its own', () => {
    expect(read({ ...GPT2, tie_word_embeddings: false }).isHeadSeparate).toBe(true);
  });

  it('falls back to the usual layer norm epsilon and activation', () => {
    const { layer_norm_epsilon: _, activation_function: __, ...rest } = GPT2;
    expect(read(rest)).toMatchObject({ layerNormEpsilon: 1e-5, activation: 'gelu_tanh' });
  });
});

describe('rejects', () => {
  it.each([
    ['an activation that the graph does not compute', { ...GPT2, activation_function: 'mish' }, /"mish"/],
    ['attention to later tokens', { ...GPT2, is_causal: false }, /is_causal/],
    ['attention to an encoder', { ...GPT2, add_cross_attention: true }, /add_cross_attention/],
    ['heads that do not divide the embedding', { ...GPT2, n_head: 5 }, /n_head 5/],
    ['heads of an odd size', { ...GPT2, n_embd: 48, n_head: 4 }, /heads of 12/],
    ['heads of a size that no kernel has room for', { ...GPT2, n_head: 2 }, /heads of 384/],
  ])('%s as unsupported', (_, config, detail) => {
    expect(() => read(config)).toThrow(errorWith('UNSUPPORTED_MODEL', detail));
  });

  it.each([
    ['a text for a tied head', { ...GPT2, tie_word_embeddings: 'false' }, /`tie_word_embeddings`/],
    ['a number for scaled scores', { ...GPT2, scale_attn_weights: 0 }, /`scale_attn_weights` is 0/],
    ['a number for scales by layer', { ...GPT2, scale_attn_by_inverse_layer_idx: 1 }, /_layer_idx` is 1/],
    ['a number for an encoder', { ...GPT2, add_cross_attention: 1 }, /`add_cross_attention` is 1/],
    ['a missing size', { ...GPT2, n_layer: undefined }, /`n_layer` is undefined/],
    ['a size of zero', { ...GPT2, vocab_size: 0 }, /`vocab_size` is 0/],
    ['a size of another type', { ...GPT2, n_positions: '1024' }, /`n_positions`/],
    ['a negative epsilon', { ...GPT2, layer_norm_epsilon: -1 }, /`layer_norm_epsilon`/],
  ])('%s as corrupt', (_, config, detail) => {
    expect(() => read(config)).toThrow(errorWith('MODEL_FILE_CORRUPT', detail));
  });
});

function scalesWith(change: object): readonly number[] {
  return read({ ...GPT2, n_layer: 3, ...change }).attentionScales;
}
