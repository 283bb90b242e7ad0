import { describe, expect, it } from 'vitest';
import { HUB_CONFIGS } from '../../testing/hub-configs.ts';
import { errorWith } from '../../testing/error-with.ts';
import { countParameters } from '../program/model-config.ts';
import { readModel } from '../families/families.ts';
import { readLfm2Config } from './config.ts';

const LFM2 = HUB_CONFIGS['LiquidAI/LFM2-1.2B'];

type Fields = Readonly<Record<string, unknown>>;
const read = (change: Fields = {}) => readLfm2Config({ ...LFM2, ...change }, undefined);

describe('readLfm2Config', () => {
  it("reads LFM2-1.2B's config", () => {
    const { layers, rope, ...config } = read();
    expect(config).toEqual({
      vocabSize: 65_536,
      contextLength: 128_000,
      numLayers: 16,
      numHeads: 32,
      numKvHeads: 8,
      headSize: 64,
      eosTokenIds: [7],
      width: 2048,
      innerSize: 8192,
      normEpsilon: 1e-5,
      convLength: 3,
      hasConvBias: false,
      isHeadSeparate: false,
    });
    expect([...layers.keys()].filter((layer) => layers[layer] === 'full_attention')).toEqual([
      2, 5, 8, 10, 12, 14,
    ]);
    expect((rope.frequencies[1] ?? 0) ** -32).toBeCloseTo(1e6, -1);
  });

  it('has as many parameters as the name of the model says, and 160 kB of state for a row in fp32', () => {
    const { weights, states } = readModel(LFM2, undefined).program;
    expect(countParameters(weights)).toBe(1_170_340_608);
    expect(states.filter(({ kind }) => kind === 'row')).toEqual(
      Array.from({ length: 10 }, () => ({ kind: 'row', shape: [2, 2048] })),
    );
  });

  it.each([
    [{ block_ffn_dim_multiplier: 1.3 }, 10_752],
    [{ block_multiple_of: 1000 }, 9000],
    [{ block_auto_adjust_ff_dim: false }, 12_288],
    [{ block_ff_dim: undefined, intermediate_size: 6656 }, 4608],
  ])('takes the width of the MLP as transformers adjusts it: %o', (change, innerSize) => {
    expect(read(change).innerSize).toBe(innerSize);
  });

  it('takes transformers’ defaults: all layers attend, the head is the embedding', () => {
    const { conv_L_cache: _, full_attn_idxs: __, num_key_value_heads: ___, ...rest } = LFM2;
    const { layers, ...config } = readLfm2Config(rest, undefined);
    expect(layers).toEqual(Array(16).fill('full_attention'));
    expect(config).toMatchObject({ convLength: 3, numKvHeads: 8, isHeadSeparate: false });
    expect(read({ tie_embedding: false, tie_word_embeddings: true }).isHeadSeparate).toBe(true);
  });
});

it.each([
  { rope_type: 'longrope', short_factor: Array(32).fill(1), original_max_position_embeddings: 4096 },
  { rope_type: 'yarn', factor: 2, original_max_position_embeddings: 4096, llama_4_scaling_beta: 0.1 },
])('has a context as long as the rope holds: $rope_type', (parameters) => {
  expect(read({ rope_scaling: parameters }).contextLength).toBe(4096);
});

describe('rejects, by the field', () => {
  it.each([
    ['layer_types', { layer_types: Array(16).fill('sliding_attention') }],
    ['layer_types', { layer_types: Array(16).fill('conv') }],
    ['conv_L_cache', { conv_L_cache: 1 }],
    ['mrope', { rope_scaling: { rope_type: 'mrope' } }],
    ['is_causal', { is_causal: false }],
    ['num_experts', { num_experts: 32 }],
    ['quantization_config', { quantization_config: {} }],
    ['Lfm2VlForConditionalGeneration', { architectures: ['Lfm2VlForConditionalGeneration'] }],
  ])('%s that is not computed', (name, change) => {
    expect(() => read(change)).toThrow(errorWith('UNSUPPORTED_MODEL', name));
  });

  it.each([
    ['layer_types', { layer_types: ['conv', 'full_attention'] }],
    ['conv_L_cache', { conv_L_cache: 65 }],
    ['block_ff_dim', { block_ff_dim: 'wide' }],
    ['conv_bias', { conv_bias: 1 }],
    ['tie_embedding', { tie_embedding: 0 }],
    ['tie_word_embeddings', { tie_embedding: null, tie_word_embeddings: 'true' }],
    ['block_auto_adjust_ff_dim', { block_auto_adjust_ff_dim: 'false' }],
    ['norm_eps', { norm_eps: -1 }],
  ])('%s out of range', (name, change) => {
    expect(() => read(change)).toThrow(errorWith('MODEL_FILE_CORRUPT', name));
  });

  it('a mixture of experts, by its model_type', () => {
    expect(() => readModel({ ...LFM2, model_type: 'lfm2_moe' }, undefined)).toThrow(
      errorWith('UNSUPPORTED_MODEL', 'Models of type "lfm2_moe"'),
    );
  });
});
