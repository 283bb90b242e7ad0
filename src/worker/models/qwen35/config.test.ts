import { describe, expect, it } from 'vitest';
import { errorWith } from '../../testing/error-with.ts';
import type { Fields } from '../config-fields.ts';
import { rowBytesOf } from '../program/layer-state.ts';
import { readQwen35Config } from './config.ts';
import { qwen35 } from './family.ts';

/** Of Qwen3.5 0.8B, as far as its text model reads them. */
const TEXT: Fields = {
  attn_output_gate: true,
  eos_token_id: 248_044,
  head_dim: 256,
  hidden_act: 'silu',
  hidden_size: 1024,
  intermediate_size: 3584,
  layer_types: Array.from({ length: 24 }, (_, i) => (i % 4 === 3 ? 'full_attention' : 'linear_attention')),
  linear_conv_kernel_dim: 4,
  linear_key_head_dim: 128,
  linear_num_key_heads: 16,
  linear_num_value_heads: 16,
  linear_value_head_dim: 128,
  max_position_embeddings: 262_144,
  model_type: 'qwen3_5_text',
  num_attention_heads: 8,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_parameters: {
    mrope_interleaved: true,
    mrope_section: [11, 11, 10],
    partial_rotary_factor: 0.25,
    rope_theta: 1e7,
    rope_type: 'default',
  },
  vocab_size: 248_320,
};

const WHOLE: Fields = {
  architectures: ['Qwen3_5ForConditionalGeneration'],
  model_type: 'qwen3_5',
  text_config: TEXT,
  tie_word_embeddings: true,
  vision_config: { depth: 12 },
};

const read = (fields: Fields) => readQwen35Config(fields, undefined);
const withText = (change: Fields): Fields => ({ ...WHOLE, text_config: { ...TEXT, ...change } });

describe('readQwen35Config', () => {
  it('reads the text model of one that reads pictures', () => {
    const { rope, layerTypes, ...config } = read(WHOLE);
    expect(config).toMatchObject({
      vocabSize: 248_320,
      numHeads: 8,
      numKvHeads: 2,
      headSize: 256,
      eosTokenIds: [248_044],
      deltaHeads: { numKeyHeads: 16, numValueHeads: 16, keySize: 128, valueSize: 128 },
      isHeadSeparate: false,
    });
    expect(layerTypes.filter((type) => type === 'linear_attention')).toHaveLength(18);
    expect(rope.frequencies).toHaveLength(32);
    expect(rope.frequencies[1]).toBeCloseTo(1e7 ** (-1 / 32), 6);
  });

  it('reads the text model alone, with the layers and the rotation that fields left out stand for', () => {
    const { layer_types: _, rope_parameters: _rope, ...fields } = TEXT;
    const config = read(fields);
    expect(config.layerTypes).toEqual(TEXT['layer_types']);
    expect(config.rope.frequencies).toHaveLength(32);
    expect(config.isHeadSeparate).toBe(true);
  });

  it('ties the head of the whole model only where that says so', () => {
    const { tie_word_embeddings: _, ...whole } = withText({ tie_word_embeddings: true });
    expect(read(whole).isHeadSeparate).toBe(true);
  });

  it('takes the end tokens of generation_config.json before its own', () => {
    const { eosTokenIds } = readQwen35Config(WHOLE, { eos_token_id: [248_046, 248_044] });
    expect(eosTokenIds).toEqual([248_046, 248_044]);
  });
});

it.each([
  { rope_type: 'longrope', short_factor: Array(32).fill(1), original_max_position_embeddings: 4096 },
  { rope_type: 'yarn', factor: 2, original_max_position_embeddings: 4096, llama_4_scaling_beta: 0.1 },
])('has a context as long as the rope holds: $rope_type', (parameters) => {
  expect(read(withText({ rope_parameters: parameters, partial_rotary_factor: 0.25 })).contextLength).toBe(
    4096,
  );
});

const baseOf = (scaling: Fields) =>
  (read(withText({ rope_scaling: scaling })).rope.frequencies[1] ?? NaN) ** -32;

it('takes rope_scaling before rope_parameters, unless it is empty', () => {
  expect(baseOf({ rope_theta: 500 })).toBeCloseTo(500, 1);
  expect(baseOf({}) / 1e7).toBeCloseTo(1, 4);
});

it('activates what is convolved as the MLP, and gates always by SiLU', () => {
  const { ops } = qwen35.readModel(withText({ hidden_act: 'relu' }), undefined).program;
  const activations = ops.flatMap((operation, i) =>
    operation.kind === 'activation' ? [`${operation.activation} after ${ops[i - 1]?.kind}`] : [],
  );
  const times = (text: string) => activations.filter((each) => each === text).length;
  expect(times('relu after shortConv')).toBe(18);
  expect(activations.filter((each) => each.startsWith('relu'))).toHaveLength(18 + 24);
  expect(activations.filter((each) => each.startsWith('silu'))).toHaveLength(18);
});

it('keeps 20 MB of a row in float32, matrices in float32 with any activations, and keys of six layers', () => {
  const { states } = qwen35.readModel(WHOLE, undefined).program;
  const [matrices, latest] = [18 * 16 * 128 * 128, 18 * 3 * 3 * 2048];
  expect(rowBytesOf(states, 4)).toMatchObject({
    bytesPerRow: 4 * (matrices + latest),
    bytesPerToken: 24_576,
  });
  expect(rowBytesOf(states, 2)).toMatchObject({ bytesPerRow: 4 * matrices + 2 * latest });
});

describe('rejects', () => {
  it.each([
    ['a layer that the family lacks', withText({ layer_types: ['mamba'] }), /layer_types.*"mamba"/],
    [
      'layers without attention',
      withText({ num_hidden_layers: 1, layer_types: ['linear_attention'] }),
      /layer_types.*no full_attention/,
    ],
    ['attention without a gate', withText({ attn_output_gate: false }), /attn_output_gate/],
    ['attention to later tokens', withText({ is_causal: false }), /is_causal/],
    ['biases of attention', withText({ attention_bias: true }), /attention_bias/],
    ['weights that are quantized', { ...WHOLE, quantization_config: { bits: 4 } }, /quantization_config/],
    ['a mixture of experts', withText({ num_experts: 64 }), /num_experts/],
    ['a classifier', { ...WHOLE, architectures: ['Qwen3_5ForSequenceClassification'] }, /Classification/],
    ['heads of an odd size', withText({ head_dim: 72 }), /head_dim is 72/],
    [
      'a rope scaling that is not computed',
      withText({ rope_parameters: { rope_type: 'ntk', factor: 4 } }),
      /"ntk"/,
    ],
    [
      'a state that no device holds',
      withText({ linear_value_head_dim: 2 ** 16 }),
      /linear_value_head_dim 65536 keep 537 MB/,
    ],
    ['a convolution of one token', withText({ linear_conv_kernel_dim: 1 }), /linear_conv_kernel_dim/],
    [
      'too few values that turn',
      withText({ rope_parameters: { partial_rotary_factor: 0.01 } }),
      /partial_rotary_factor 0.01/,
    ],
  ])('%s as unsupported', (_, config, detail) => {
    expect(() => read(config)).toThrow(errorWith('UNSUPPORTED_MODEL', detail));
  });

  it.each([
    ['a number for a tied head', { ...WHOLE, tie_word_embeddings: 1 }, /`tie_word_embeddings` is 1/],
    ['a text for the gate', withText({ attn_output_gate: 'false' }), /`attn_output_gate`/],
    ['no text model', { ...WHOLE, text_config: undefined }, /`text_config`/],
    ['a missing size', withText({ hidden_size: undefined }), /`hidden_size` is undefined/],
    [
      'keys of a size that no kernel has room for',
      withText({ linear_key_head_dim: 512 }),
      /`linear_key_head_dim`/,
    ],
    ['a convolution of no length', withText({ linear_conv_kernel_dim: 0 }), /`linear_conv_kernel_dim` is 0/],
    ['values that keys cannot share evenly', withText({ linear_num_key_heads: 5 }), /linear_num_key_heads 5/],
    ['queries that keys cannot share evenly', withText({ num_key_value_heads: 3 }), /num_key_value_heads 3/],
    ['fewer layer types than layers', withText({ layer_types: ['full_attention'] }), /do not name 24/],
  ])('%s as corrupt', (_, config, detail) => {
    expect(() => read(config)).toThrow(errorWith('MODEL_FILE_CORRUPT', detail));
  });
});
