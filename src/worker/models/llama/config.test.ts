import { describe, expect, it } from 'vitest';
import { readLlamaConfig } from './config.ts';
import { HUB_CONFIGS } from '../../testing/hub-configs.ts';
import { errorWith } from '../../testing/error-with.ts';

type Fields = Readonly<Record<string, unknown>>;

const SMOLLM2 = HUB_CONFIGS['HuggingFaceTB/SmolLM2-135M-Instruct'];
const LLAMA = HUB_CONFIGS['meta-llama/Llama-3.2-1B-Instruct'];
const MISTRAL = HUB_CONFIGS['mistralai/Mistral-7B-v0.1'];
const QWEN2 = HUB_CONFIGS['Qwen/Qwen2.5-0.5B-Instruct'];
const QWEN3 = HUB_CONFIGS['Qwen/Qwen3-0.6B'];
const GEMMA = HUB_CONFIGS['google/gemma-3-270m'];

const SMOLLM3 = HUB_CONFIGS['HuggingFaceTB/SmolLM3-3B'];
const OLMO3 = HUB_CONFIGS['allenai/Olmo-3-7B-Instruct'];
const GRANITE = HUB_CONFIGS['ibm-granite/granite-3.3-2b-instruct'];
const MINISTRAL = HUB_CONFIGS['mistralai/Ministral-3-3B-Instruct-2512'].text_config;

/** Phi-4-mini. */
const PHI = {
  model_type: 'phi3',
  hidden_size: 3072,
  intermediate_size: 8192,
  num_attention_heads: 24,
  num_key_value_heads: 8,
  num_hidden_layers: 32,
  vocab_size: 200_064,
  max_position_embeddings: 131_072,
  original_max_position_embeddings: 4096,
  partial_rotary_factor: 0.75,
  rope_scaling: { type: 'longrope', short_factor: Array(48).fill(1), long_factor: Array(48).fill(2) },
  sliding_window: 262_144,
  tie_word_embeddings: true,
};

const read = (config: Fields) => readLlamaConfig(config, undefined);
const isRotated = (config: Fields) => read(config).layers.map(({ rope }) => rope !== undefined);
const windowsOf = (config: Fields) => read(config).layers.map(({ window }) => window);
/** The base follows from the second frequency, to as many digits as fp32 leaves. */
const basesOf = (config: Fields) => {
  const { layers, headSize } = read(config);
  return layers.map(({ rope }) => Number(((rope?.frequencies[1] ?? 0) ** (-headSize / 2)).toPrecision(4)));
};

describe('readLlamaConfig', () => {
  it("reads SmolLM2-135M's config", () => {
    const { layers, modules: _, ...config } = read(SMOLLM2);
    expect(config).toEqual({
      vocabSize: 49_152,
      contextLength: 8192,
      numLayers: 30,
      numHeads: 9,
      numKvHeads: 3,
      headSize: 64,
      eosTokenIds: [2],
      width: 576,
      innerSize: 1536,
      normEpsilon: 1e-5,
      norms: { isGainOffset: false, ofQueriesAndKeys: 'none', ofInputs: true, ofOutputs: false },
      activation: 'silu',
      attentionScale: 0.125,
      embeddingScale: 1,
      logitScale: 1,
      biases: { qkv: false, output: false, mlp: false },
      isHeadSeparate: false,
      needsFloat32: false,
    });
    expect(layers).toHaveLength(30);
    expect(new Set(layers.map(({ rope }) => rope)).size).toBe(1);
  });

  it("reads Llama-3.2-1B's config, with three end tokens", () => {
    const config = read(LLAMA);
    expect(config).toMatchObject({ numKvHeads: 8, contextLength: 131_072, isHeadSeparate: false });
    expect(config.eosTokenIds).toEqual([128_001, 128_008, 128_009]);
    // The slowest frequency is divided by the factor of `rope_scaling`.
    expect(config.layers[0]?.rope?.frequencies.at(-1)).toBeCloseTo(500_000 ** (-31 / 32) / 32, 12);
  });

  it("reads Mistral-7B's config, a window in each layer", () => {
    expect(read(MISTRAL)).toMatchObject({ headSize: 128, isHeadSeparate: true, biases: { qkv: false } });
    expect(windowsOf(MISTRAL)).toEqual(Array(32).fill(4096));
  });

  it("reads Qwen2.5-0.5B's config, biases on q, k and v alone", () => {
    expect(read(QWEN2)).toMatchObject({ biases: { qkv: true, output: false, mlp: false } });
    expect(windowsOf(QWEN2)).toEqual(Array(24).fill(undefined));
  });

  it("reads Qwen3-0.6B's config, heads times size not the width", () => {
    expect(read(QWEN3)).toMatchObject({
      numHeads: 16,
      headSize: 128,
      width: 1024,
      norms: { ofQueriesAndKeys: 'heads' },
    });
  });

  it("reads Gemma 3 270M's config", () => {
    expect(read(GEMMA)).toMatchObject({
      activation: 'gelu_tanh',
      attentionScale: 1 / 16,
      embeddingScale: Math.sqrt(640),
      norms: { isGainOffset: true, ofQueriesAndKeys: 'heads', ofInputs: true, ofOutputs: true },
      isHeadSeparate: false,
      needsFloat32: true,
    });
    expect(windowsOf(GEMMA).slice(4, 8)).toEqual([512, undefined, 512, 512]);
    expect(basesOf(GEMMA).slice(4, 8)).toEqual([1e4, 1e6, 1e4, 1e4]);
  });

  it("reads SmolLM3's config, no rotation in every fourth layer", () => {
    expect(isRotated(SMOLLM3).slice(0, 5)).toEqual([true, true, true, false, true]);
    const change = { num_hidden_layers: 3, no_rope_layers: null, no_rope_layer_interval: 2 };
    expect(isRotated({ ...SMOLLM3, ...change })).toEqual([true, false, true]);
    expect(isRotated({ ...SMOLLM3, ...change, no_rope_layers: [0, 1, 1] })).toEqual([false, true, true]);
  });

  it("reads Olmo 3's config, a scaling in the layers without a window alone", () => {
    const { layers, norms } = read(OLMO3);
    expect(norms).toEqual({
      isGainOffset: false,
      ofQueriesAndKeys: 'whole',
      ofInputs: false,
      ofOutputs: true,
    });
    expect(layers.slice(0, 5).map(({ window }) => window)).toEqual([4096, 4096, 4096, undefined, 4096]);
    expect(layers.slice(2, 4).map(({ rope }) => rope?.attentionFactor)).toEqual([1, 1.2079441541679836]);
    expect(basesOf({ ...OLMO3, num_hidden_layers: 1 })).toEqual([5e5]);
  });

  it("reads Granite's config, its residual stream divided by the factor of what is added", () => {
    expect(read(GRANITE)).toMatchObject({
      attentionScale: 1 / 64,
      embeddingScale: 12 / 0.22,
      logitScale: 1 / 8,
      normEpsilon: 1e-5 / 0.22 ** 2,
    });
  });

  it('rotates the layers of Granite 3 whatever position_embedding_type says, as transformers does', () => {
    expect(isRotated({ ...GRANITE, position_embedding_type: 'nope' })).not.toContain(false);
  });

  it('reads Granite 4 without Mamba, whose MLP has another width', () => {
    const config = {
      ...GRANITE,
      architectures: ['GraniteMoeHybridForCausalLM'],
      model_type: 'granitemoehybrid',
      layer_types: Array(40).fill('attention'),
      num_local_experts: 0,
      shared_intermediate_size: 4096,
      position_embedding_type: 'rope',
    };
    expect(read(config)).toMatchObject({ innerSize: 4096, embeddingScale: 12 / 0.22 });
    expect(isRotated(config)).not.toContain(false);
    expect(isRotated({ ...config, position_embedding_type: null })).not.toContain(true);
    const withExperts = { ...config, num_local_experts: 64 };
    expect(() => read(withExperts)).toThrow(errorWith('UNSUPPORTED_MODEL', /num_local_experts/));
    const withMamba = { ...config, layer_types: Array(40).fill('mamba') };
    expect(() => read(withMamba)).toThrow(errorWith('UNSUPPORTED_MODEL', /"mamba"/));
  });

  it("reads Phi-4-mini's config, three quarters of each head rotated, as far as its first context", () => {
    const { layers, contextLength, headSize } = read(PHI);
    expect({ contextLength, headSize }).toEqual({ contextLength: 4096, headSize: 128 });
    expect(layers[0]?.rope?.frequencies).toHaveLength(48);
    expect(layers[0]?.rope?.attentionFactor).toBeCloseTo(Math.sqrt(1 + Math.log(32) / Math.log(4096)), 12);
    const few = { ...PHI, rope_scaling: { ...PHI.rope_scaling, short_factor: [1] } };
    expect(() => read(few)).toThrow(errorWith('MODEL_FILE_CORRUPT', /short_factor/));
    const { type: _, ...factors } = PHI.rope_scaling;
    for (const type of ['su', 'yarn'])
      expect(read({ ...PHI, rope_scaling: { ...factors, rope_type: type } }).layers).toEqual(layers);
  });

  it('has a context of as many tokens as queries without factors by their positions', () => {
    expect(read(MINISTRAL)).toMatchObject({ contextLength: 16_384, headSize: 128, isHeadSeparate: false });
    expect(read(MINISTRAL).layers[0]?.rope?.attentionFactor).toBe(1);
    const parameters = { rope_type: 'default', rope_theta: 1e6, llama_4_scaling_beta: 0 };
    expect(read({ ...MINISTRAL, rope_parameters: parameters }).contextLength).toBe(262_144);
  });

  it('takes the size of heads from the width, and as many K/V heads as heads, where neither is given', () => {
    const { head_dim: _, num_key_value_heads: __, ...rest } = LLAMA;
    expect(read(rest)).toMatchObject({ headSize: 64, numKvHeads: 32 });
    expect(read({ ...rest, head_dim: null })).toMatchObject({ headSize: 64 });
  });

  it("takes transformers' defaults for what is left out", () => {
    const { sliding_window: _, ...mistral } = MISTRAL;
    expect(windowsOf(mistral)[0]).toBe(4096);
    const { eos_token_id: __, tie_word_embeddings: ___, ...llama } = LLAMA;
    expect(read(llama)).toMatchObject({ eosTokenIds: [2], isHeadSeparate: true });
    const { rope_local_base_freq: _local, rope_theta: _theta, ...gemma } = GEMMA;
    expect(basesOf(gemma).slice(4, 6)).toEqual([1e4, 1e6]);
  });

  it('takes them for what is null too, but where that says that there is none', () => {
    const ministral = { ...MINISTRAL, rope_parameters: null };
    expect(read(ministral).layers[0]?.rope).toEqual(read({ ...ministral, rope_scaling: {} }).layers[0]?.rope);
    expect(read(ministral).contextLength).toBe(16_384);
    const { rope_scaling: _, rope_theta: __, ...olmo } = OLMO3;
    expect(basesOf({ ...olmo, rope_theta: 1e4, rope_local_base_freq: null })[0]).toBe(5e5);
    const granite = { ...GRANITE, architectures: [], model_type: 'granitemoehybrid', num_local_experts: 0 };
    expect(() => read({ ...granite, layer_types: null })).toThrow(errorWith('UNSUPPORTED_MODEL', /"mamba"/));
    expect(read({ ...MISTRAL, num_key_value_heads: null }).numKvHeads).toBe(32);
  });

  it('has biases where the config asks for them', () => {
    expect(read({ ...LLAMA, attention_bias: true, mlp_bias: true })).toMatchObject({
      biases: { qkv: true, output: true, mlp: true },
    });
    expect(read({ ...QWEN3, attention_bias: true })).toMatchObject({ biases: { qkv: true, output: true } });
  });

  it('reads the head that a checkpoint ties as it says', () => {
    expect(read({ ...QWEN2, tie_word_embeddings: false }).isHeadSeparate).toBe(true);
    expect(read({ ...GEMMA, tie_word_embeddings: false }).isHeadSeparate).toBe(true);
  });
});

describe('windows', () => {
  const THREE = { num_hidden_layers: 3 };

  it('are none where sliding_window is null', () => {
    expect(windowsOf({ ...MISTRAL, ...THREE, sliding_window: null })).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are in the layers from max_window_layers on', () => {
    const change = { use_sliding_window: true, sliding_window: 64, max_window_layers: 1 };
    expect(windowsOf({ ...QWEN2, ...THREE, ...change })).toEqual([undefined, 64, 64]);
  });

  it('are where layer_types says', () => {
    const layerTypes = ['sliding_attention', 'full_attention', 'sliding_attention'];
    const change = { use_sliding_window: true, sliding_window: 64, layer_types: layerTypes };
    expect(windowsOf({ ...QWEN3, ...THREE, ...change })).toEqual([64, undefined, 64]);
  });

  it('leave out each nth layer by sliding_window_pattern, the sixth by default', () => {
    const { layer_types: _, ...gemma } = GEMMA;
    expect(windowsOf({ ...gemma, ...THREE, sliding_window_pattern: 2 })).toEqual([512, undefined, 512]);
    expect(windowsOf({ ...gemma, num_hidden_layers: 7 }).slice(4)).toEqual([512, undefined, 512]);
  });
});

describe('rope parameters', () => {
  const { rope_theta: _, rope_scaling: __, ...rest } = QWEN3;

  it('are read from rope_parameters too', () => {
    const parameters = { rope_type: 'linear', factor: 2, rope_theta: 1e4 };
    const { frequencies } = read({ ...rest, rope_parameters: parameters }).layers[0]?.rope ?? {};
    expect(frequencies?.[0]).toBe(0.5);
    expect(basesOf({ ...rest, rope_parameters: { rope_theta: 500 } })[0]).toBe(500);
  });

  it('are of the type that they name, whatever else they have', () => {
    const others = { short_factor: Array(64).fill(1), long_factor: Array(64).fill(2) };
    for (const rope_type of ['linear', 'yarn']) {
      const scaling = { rope_type, factor: 2 };
      const { layers } = read({ ...QWEN3, rope_scaling: { ...scaling, ...others } });
      expect(layers).toEqual(read({ ...QWEN3, rope_scaling: scaling }).layers);
    }
  });

  it('are read for each type of layer', () => {
    const { rope_local_base_freq: _local, rope_theta: _theta, rope_scaling: _scaling, ...gemma } = GEMMA;
    const nested = {
      full_attention: { rope_type: 'linear', factor: 8, rope_theta: 2e6 },
      sliding_attention: { rope_type: 'default', rope_theta: 2e4 },
    };
    const { layers } = read({ ...gemma, rope_parameters: nested });
    expect(layers.slice(4, 6).map(({ rope }) => rope?.frequencies[0])).toEqual([1, 1 / 8]);
    expect(basesOf({ ...gemma, rope_parameters: nested })[4]).toBe(2e4);
  });

  it('scale only the layers that see everything, where rope_scaling is not nested', () => {
    const { layers } = read({ ...GEMMA, rope_scaling: { rope_type: 'linear', factor: 8 } });
    expect(layers.slice(4, 6).map(({ rope }) => rope?.frequencies[0])).toEqual([1, 1 / 8]);
  });
});

describe('rejects', () => {
  it.each([
    ['an unknown rope type', { ...LLAMA, rope_scaling: { type: 'spiral', factor: 4 } }, /"spiral"/],
    ['heads that are rotated in part', { ...LLAMA, partial_rotary_factor: 0.5 }, /partial_rotary_factor/],
    ['weights that are quantized', { ...LLAMA, quantization_config: { bits: 4 } }, /quantization_config/],
    ['capped logits', { ...GEMMA, final_logit_softcapping: 30 }, /final_logit_softcapping/],
    ['capped scores', { ...GEMMA, attn_logit_softcapping: 50 }, /attn_logit_softcapping/],
    ['a mixture of experts', { ...QWEN3, num_experts: 8 }, /num_experts/],
    ['attention to later tokens', { ...GEMMA, use_bidirectional_attention: true }, /use_bidirectional/],
    ['attention to all tokens', { ...LLAMA, is_causal: false }, /is_causal/],
    [
      'a classifier',
      { ...LLAMA, architectures: ['LlamaForSequenceClassification'] },
      /SequenceClassification/,
    ],
    [
      'low frequencies above the high ones',
      { ...LLAMA, rope_scaling: { ...LLAMA.rope_scaling, low_freq_factor: 8 } },
      /low_freq_factor 8 .*high_freq_factor 4/,
    ],
    [
      'a rotation for each type of layer where layers rotate alike',
      { ...MISTRAL, rope_parameters: { full_attention: { rope_theta: 1e4 } } },
      /rope_parameters .*full_attention/,
    ],
    [
      'a rotation that no type of layer has',
      { ...GEMMA, rope_parameters: { rope_theta: 1e4 } },
      /rope_parameters/,
    ],
    [
      'a scaling by its old name',
      { ...OLMO3, rope_scaling: { type: 'linear', factor: 2 } },
      /rope_scaling.*rope_type/,
    ],
    ['an activation that is not computed', { ...LLAMA, hidden_act: 'mish' }, /hidden_act "mish"/],
    ['heads of an odd size', { ...LLAMA, head_dim: 72 }, /head_dim.* is 72/],
    ['heads of a size that no kernel has room for', { ...LLAMA, head_dim: 512 }, /head_dim.* is 512/],
    ['an unknown type of layer', { ...QWEN3, layer_types: ['chunked_attention'] }, /chunked_attention/],
    ['a window that its type does not have', { ...LLAMA, sliding_window: 64 }, /no sliding_window/],
    ['layers of Mamba', { ...GRANITE, layer_types: ['mamba'] }, /no layer_types/],
    ['unrotated layers of another type', { ...LLAMA, no_rope_layers: [1, 0] }, /no_rope_layers/],
    ['biases that its type does not have', { ...MISTRAL, attention_bias: true }, /no attention_bias/],
    [
      'windowed layers without a window',
      { ...QWEN3, num_hidden_layers: 1, layer_types: ['sliding_attention'] },
      /use_sliding_window is false/,
    ],
  ])('%s as unsupported', (_, config, detail) => {
    expect(() => read(config)).toThrow(errorWith('UNSUPPORTED_MODEL', detail));
  });

  it.each(['linear', 'dynamic', 'llama3'])('a scaling by %s, which Phi lacks', (type) => {
    const config = { ...PHI, rope_scaling: { ...PHI.rope_scaling, type, factor: 2 } };
    expect(() => read(config)).toThrow(
      errorWith('UNSUPPORTED_MODEL', `"${type}" is not one of default, longrope`),
    );
  });

  it.each([
    ['a number for a bias', { ...LLAMA, attention_bias: 1 }, /`attention_bias` is 1, expected true or false/],
    ['a text for a bias', { ...LLAMA, mlp_bias: 'true' }, /`mlp_bias` is "true"/],
    ['a number for windows', { ...QWEN2, use_sliding_window: 1 }, /`use_sliding_window` is 1/],
    ['a text for a tied head', { ...QWEN2, tie_word_embeddings: 'true' }, /`tie_word_embeddings` is "true"/],
    ['a number for whole pairs of yarn', withYarn({ truncate: 0 }), /`truncate` is 0/],
    ['a flag for a weight of yarn', withYarn({ mscale: true, mscale_all_dim: 1 }), /`mscale` is true/],
    [
      'yarn for Phi, which is LongRoPE without its factors',
      { ...PHI, rope_scaling: { type: 'yarn', factor: 2 } },
      /short_factor/,
    ],
    ['a text for a scaling', { ...LLAMA, rope_scaling: 'linear' }, /`rope_scaling` is "linear"/],
    ['a missing size', { ...LLAMA, hidden_size: undefined }, /`hidden_size` is undefined/],
    [
      'K/V heads that queries cannot share evenly',
      { ...LLAMA, num_key_value_heads: 5 },
      /num_key_value_heads 5/,
    ],
    ['a scaling without its factor', { ...LLAMA, rope_scaling: { type: 'linear' } }, /`factor` is undefined/],
    ['fewer flags of rotation than layers', { ...SMOLLM3, no_rope_layers: [1, 0] }, /no_rope_layers/],
    ['a factor of no size', { ...GRANITE, residual_multiplier: 0 }, /`residual_multiplier` is 0/],
    ['fewer layer types than layers', { ...QWEN3, layer_types: ['full_attention'] }, /layer_types/],
    ['a window of no size', { ...MISTRAL, sliding_window: 0 }, /`sliding_window` is 0/],
  ])('%s as corrupt', (_, config, detail) => {
    expect(() => read(config)).toThrow(errorWith('MODEL_FILE_CORRUPT', detail));
  });
});

function withYarn(change: Fields): Fields {
  return { ...LLAMA, rope_scaling: { rope_type: 'yarn', factor: 2, ...change } };
}
