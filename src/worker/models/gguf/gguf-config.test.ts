import { describe, expect, it } from 'vitest';

import keys from '../../../../tools/reference/fixtures/gguf-keys-reference.json' with { type: 'json' };
import { toWireError } from '../../../protocol/wire-errors.ts';
import type { MetadataValue } from '../../testing/gguf-builder.ts';
import { configFileOf, openTiny, tensor } from './test-support.ts';

const FAMILIES = ['llama', 'qwen2', 'qwen3', 'gemma3'];

type Fields = Readonly<Record<string, MetadataValue>>;

/** What a key of a family is with a value that no writer gives. A key that holds a size fails as a size: it is read. */
async function decide(architecture: string, key: string): Promise<string> {
  const value = key.endsWith('scaling.type') ? 'longrope' : 0.375;
  const error = await openTiny({ architecture, fields: { [key]: value } }).then(
    () => undefined,
    (cause: unknown) => toWireError(cause),
  );
  if (!error) return 'no effect';
  if (error.code === 'MODEL_FILE_CORRUPT') return 'read';
  return error.message.includes(`${architecture}.${key} = ${JSON.stringify(value)}`)
    ? error.code
    : error.message;
}

async function configOf(architecture: string, fields: Fields): Promise<unknown> {
  return (await openTiny({ architecture, fields })).config;
}

describe('a key of the metadata', () => {
  const own = keys.filter((key) => key.startsWith('{arch}.')).map((key) => key.slice('{arch}.'.length));

  it.each(FAMILIES)('of llama.cpp is read, has no effect, or is refused by its name: %s', async (family) => {
    const decisions = await Promise.all(own.map(async (key) => [key, await decide(family, key)] as const));
    const counts = Map.groupBy(decisions, ([, decision]) => decision);
    const harmless = counts.get('no effect')?.map(([key]) => key);
    expect(harmless?.toSorted()).toEqual(
      [
        'attention.layer_norm_epsilon',
        // Read, and 0.375 is one.
        'attention.layer_norm_rms_epsilon',
        'rope.freq_base',
        'rope.scaling.factor',
        'expert_feed_forward_length',
        'expert_gating_func',
        'expert_used_count',
        'expert_weights_norm',
        'expert_weights_scale',
        'rope.scaling.finetuned',
        'rope.scaling.original_context_length',
        'vocab_size',
        ...(family === 'gemma3' ? ['rope.freq_base_swa'] : []),
        'attention.sliding_window_pattern',
      ].toSorted(),
    );
    expect(counts.get('UNSUPPORTED_MODEL')?.length).toBeGreaterThan(own.length - 30);
  });

  it.each(['rope.new_key', 'attention.new_key', 'new_key'])(
    'that nobody knows is refused: %s',
    async (key) => {
      expect(await decide('llama', key)).toBe('UNSUPPORTED_MODEL');
    },
  );

  it.each<readonly [string, MetadataValue]>([
    ['attention.causal', true],
    ['attention.clamp_kqv', 0],
    ['attention.max_alibi_bias', 0],
    ['attention.sliding_window', 64],
    ['attention.value_length', 16],
    ['attn_logit_softcapping', 0],
    ['expert_count', 0],
    ['logit_scale', 1],
    ['pooling_type', 0],
    ['rope.dimension_count', 16],
    ['rope.dimension_sections', [0, 0, 0, 0]],
    ['rope.scaling.attn_factor', 1],
    ['rope.scaling.type', 'none'],
    ['rope.scaling.yarn_beta_fast', 32],
    ['rope.scaling.yarn_log_multiplier', 0],
    ['tensor_data_layout', 'Meta AI original pth'],
    ['use_parallel_residual', false],
    ['attention.head_count', [1]],
    ['new_key', 0],
  ])('%s is taken with the value that changes nothing: %j', async (key, value) => {
    await expect(openTiny({ fields: { [key]: value } })).resolves.toBeDefined();
  });

  it.each<readonly [string, MetadataValue]>([
    ['attention.causal', false],
    ['attention.sliding_window', 63],
    ['attention.value_length', 8],
    ['rope.dimension_count', 8],
    ['rope.dimension_sections', [2, 2, 4, 0]],
    ['rope.scaling.type', 'longrope'],
    ['rope.scaling.type', 7],
    ['rope.scaling.yarn_beta_fast', 16],
    ['expert_count', 4],
    ['classifier.output_labels', ['yes', 'no']],
  ])('%s is refused by its name with another one: %j', async (key, value) => {
    await expect(openTiny({ fields: { [key]: value } })).rejects.toMatchObject({
      code: 'UNSUPPORTED_MODEL',
      message: expect.stringContaining(`llama.${key} = ${JSON.stringify(value)}`),
    });
  });

  it.each(['context_length', 'attention.head_count', 'attention.layer_norm_rms_epsilon'])(
    'that llama.cpp has no default for must be there: %s',
    async (key) => {
      await expect(openTiny({ fields: { [key]: undefined } })).rejects.toMatchObject({
        code: 'MODEL_FILE_CORRUPT',
        message: expect.stringContaining(`llama.${key} is missing`),
      });
    },
  );
});

describe('the rope of a GGUF file', () => {
  it.each<readonly [string, Fields, object]>([
    ['a factor without a type is linear', { 'rope.scaling.factor': 4 }, { rope_type: 'linear', factor: 4 }],
    ['the old name of the factor counts', { 'rope.scale_linear': 4 }, { rope_type: 'linear', factor: 4 }],
    [
      'the new name goes before the old one',
      { 'rope.scaling.factor': 2, 'rope.scale_linear': 4 },
      { rope_type: 'linear', factor: 2 },
    ],
    [
      'yarn has its own context',
      {
        'rope.scaling.factor': 4,
        'rope.scaling.type': 'yarn',
        'rope.scaling.original_context_length': 16,
      },
      { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 16 },
    ],
  ])('%s', async (_, fields, scaling) => {
    expect(await configOf('llama', fields)).toMatchObject({ rope_scaling: scaling });
  });

  it.each<readonly [string, Fields]>([
    ['a factor of 0', { 'rope.scaling.factor': 0, 'rope.scaling.type': 'yarn' }],
    ['the type none', { 'rope.scaling.factor': 4, 'rope.scaling.type': 'none' }],
  ])('%s scales nothing', async (_, fields) => {
    expect(await configOf('llama', fields)).not.toHaveProperty('rope_scaling');
  });

  it('has llama.cpp’s base where the file has none', async () => {
    expect(await configOf('gemma3', {})).toMatchObject({ rope_theta: 10_000 });
  });

  it('takes factors for each frequency, and refuses them beside another scaling', async () => {
    const tensors = [tensor('rope_freqs.weight', 8)];
    expect((await openTiny({ tensors })).config).toMatchObject({ rope_scaling: { rope_type: 'factors' } });
    const scaled = openTiny({ tensors, fields: { 'rope.scaling.factor': 4 } });
    await expect(scaled).rejects.toMatchObject({ code: 'UNSUPPORTED_MODEL' });
    const foreign = openTiny({ tensors, architecture: 'qwen2' });
    await expect(foreign).rejects.toMatchObject({ message: expect.stringContaining('rope_freqs.weight') });
  });
});

describe('the layers of Gemma 3', () => {
  it.each<readonly [string, Fields, string]>([
    ['without a window', {}, 'full_attention'],
    ['with a window of one in six', { 'attention.sliding_window': 8 }, 'sliding_attention'],
    [
      'with a period of 1',
      { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': 1 },
      'full_attention',
    ],
    [
      'named one by one',
      { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': [false] },
      'full_attention',
    ],
    [
      'named one by one, with a window',
      { 'attention.sliding_window': 8, 'attention.sliding_window_pattern': [true] },
      'sliding_attention',
    ],
  ])('%s', async (_, fields, type) => {
    expect(await configOf('gemma3', fields)).toMatchObject({ layer_types: [type] });
  });
});

it.each([
  ['a norm of another architecture', tensor('blk.0.attn_q_norm.weight', 16)],
  ['a tensor that nobody knows', tensor('blk.0.attn_sinks.weight', 16)],
  ['a layer beyond the last', tensor('blk.1.attn_norm.weight', 16)],
  ['a name of the prototype', tensor('__proto__', 16)],
  ['a method’s name', tensor('constructor', 16)],
  ['a method’s name in a layer', tensor('blk.0.constructor.weight', 16)],
])('%s is refused by its name, and not left out', async (_, extra) => {
  await expect(openTiny({ tensors: [extra] })).rejects.toMatchObject({
    code: 'UNSUPPORTED_MODEL',
    message: expect.stringContaining('has tensor '),
  });
});

it('biases that the file has are added', async () => {
  const biases = ['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) =>
    tensor(`blk.0.${name}.bias`, 16),
  );
  const { tensors } = await openTiny({ tensors: biases });
  expect([...tensors.keys()]).toContain('layers.0.self_attn.o_proj.bias');
});

it('a recommended temperature is the model’s default', async () => {
  const metadata = { 'general.sampling.temp': 0.75, 'general.sampling.top_k': 20 };
  expect((await openTiny({ metadata })).generationConfig).toMatchObject({
    do_sample: true,
    temperature: 0.75,
    top_k: 20,
  });
});

describe('Phi with factors for each frequency', () => {
  const tensors = [tensor('rope_factors_short.weight', 8), tensor('rope_factors_long.weight', 8)];
  const phi = (fields: Fields) => configFileOf({ architecture: 'phi3', fields, tensors });

  it('scales queries and keys by the factor of the file, 1 without one', async () => {
    expect(await phi({})).toMatchObject({ rope_scaling: { rope_type: 'longrope', attention_factor: 1 } });
    expect(await phi({ 'rope.scaling.attn_factor': 1.5 })).toMatchObject({
      rope_scaling: { rope_type: 'longrope', attention_factor: 1.5 },
    });
  });

  it.each([{}, { 'rope.scaling.attn_factor': 1.5 }])(
    'is refused beside another scaling: %j',
    async (fields) => {
      await expect(phi({ 'rope.scaling.factor': 4, ...fields })).rejects.toMatchObject({
        code: 'UNSUPPORTED_MODEL',
        message: expect.stringContaining('both rope_factors_short.weight and rope.scaling.factor'),
      });
    },
  );
});

it.each<Fields>([
  {},
  { 'rope.scaling.type': 'yarn', 'rope.scaling.factor': 0 },
  { 'rope.scaling.type': 'none', 'rope.scaling.factor': 4 },
])('a scale of later queries is refused where the rope has no scaling: %j', async (fields) => {
  const scaled = {
    'attention.temperature_scale': 0.5,
    'rope.scaling.original_context_length': 16,
    ...fields,
  };
  await expect(openTiny({ architecture: 'mistral3', fields: scaled })).rejects.toMatchObject({
    code: 'UNSUPPORTED_MODEL',
    message: expect.stringContaining('attention.temperature_scale is 0.5'),
  });
});

const QWEN35: Fields = {
  'rope.dimension_count': 4,
  'ssm.conv_kernel': 4,
  'ssm.group_count': 2,
  'ssm.inner_size': 64,
  'ssm.state_size': 32,
  'ssm.time_step_rank': 2,
};

it.each(Object.keys(QWEN35))('Qwen 3.5 is refused by the key that is missing: %s', async (missing) => {
  const given = Object.entries(QWEN35).filter(([key]) => key !== missing);
  await expect(openTiny({ architecture: 'qwen35', fields: Object.fromEntries(given) })).rejects.toMatchObject(
    {
      code: 'MODEL_FILE_CORRUPT',
      message: expect.stringContaining(`qwen35.${missing} is missing`),
    },
  );
});

it('heads of values that share keys are refused, because llama.cpp writes them in another order', async () => {
  const fields = { ...QWEN35, 'ssm.time_step_rank': 4 };
  const message = expect.stringContaining('ssm.time_step_rank is 4 and ssm.group_count 2');
  await expect(openTiny({ architecture: 'qwen35', fields })).rejects.toMatchObject({
    code: 'UNSUPPORTED_MODEL',
    message,
  });
});
