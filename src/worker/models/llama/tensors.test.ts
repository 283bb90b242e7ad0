import { expect, it } from 'vitest';
import type { Fields } from '../config-fields.ts';
import { readModel } from '../families/families.ts';
import { countParameters } from '../program/model-config.ts';
import { errorWith } from '../../testing/error-with.ts';
import { HUB_CONFIGS } from '../../testing/hub-configs.ts';

/** Parameters that the models' pages on the hub state, with the embedding once where it is tied. */
it.each([
  ['HuggingFaceTB/SmolLM2-135M-Instruct', 134_515_008],
  ['meta-llama/Llama-3.2-1B-Instruct', 1_235_814_400],
  ['mistralai/Mistral-7B-v0.1', 7_241_732_096],
  ['Qwen/Qwen2.5-0.5B-Instruct', 494_032_768],
  ['Qwen/Qwen3-0.6B', 596_049_920],
  ['google/gemma-3-270m', 268_098_176],
  ['HuggingFaceTB/SmolLM3-3B', 3_075_098_624],
  ['allenai/OLMo-2-0425-1B-Instruct', 1_484_916_736],
  ['allenai/Olmo-3-7B-Instruct', 7_298_011_136],
  ['ibm-granite/granite-3.3-2b-instruct', 2_533_539_840],
] as const)('%s has %i parameters', (id, numParameters) => {
  expect(countParameters(readModel(HUB_CONFIGS[id], undefined).program.weights)).toBe(numParameters);
});

it("joins a layer's q, k and v where no norm stands between, and their biases", () => {
  const { program } = readModel(HUB_CONFIGS['Qwen/Qwen2.5-0.5B-Instruct'], undefined);
  const layer = program.weights.filter(({ name }) => name.startsWith('layers.0.self_attn'));
  const [q, k, v] = ['q', 'k', 'v'].map((part) => `layers.0.self_attn.${part}_proj`);
  const sourcesOf = (kind: string) => [
    { name: `${q}.${kind}`, numRows: 896 },
    { name: `${k}.${kind}`, numRows: 128 },
    { name: `${v}.${kind}`, numRows: 128 },
  ];
  expect(layer).toEqual([
    {
      name: 'layers.0.self_attn.qkv_proj.weight',
      shape: [1152, 896],
      role: 'linear',
      isSensitive: true,
      sources: sourcesOf('weight'),
    },
    { name: 'layers.0.self_attn.qkv_proj.bias', shape: [1152], role: 'plain', sources: sourcesOf('bias') },
    { name: 'layers.0.self_attn.o_proj.weight', shape: [896, 896], role: 'linear' },
  ]);
});

it('reads the text model of one that reads pictures too', () => {
  const config = HUB_CONFIGS['mistralai/Ministral-3-3B-Instruct-2512'];
  const { tensorPrefix, program, skipsVision } = readModel(config, undefined);
  expect(skipsVision).toBe(true);
  expect(tensorPrefix).toBe('language_model.model.');
  expect(countParameters(program.weights)).toBe(3_429_006_336);
});

it('ties the head of a model that reads pictures too, unless that says otherwise itself', () => {
  const config = HUB_CONFIGS['mistralai/Ministral-3-3B-Instruct-2512'];
  const whole = { ...config, text_config: { ...config.text_config, tie_word_embeddings: false } };
  expect(headOf(whole)).toBe('embed_tokens.weight');
  expect(headOf({ ...whole, tie_word_embeddings: false })).toBe('lm_head.weight');
});

function headOf(config: Fields): string | undefined {
  return readModel(config, undefined).program.ops.at(-1)?.weights[0]?.name;
}

it('refuses another architecture around a text model', () => {
  const config = { ...HUB_CONFIGS['mistralai/Ministral-3-3B-Instruct-2512'], architectures: ['OtherModel'] };
  expect(() => readModel(config, undefined)).toThrow(errorWith('UNSUPPORTED_MODEL', /OtherModel/));
});

it('refuses weights that are quantized around a text model', () => {
  const config = { model_type: 'mistral3', quantization_config: { quant_method: 'fp8' }, text_config: {} };
  expect(() => readModel(config, undefined)).toThrow(errorWith('UNSUPPORTED_MODEL', /quantization_config/));
});

it('reads the tensors of a layer with norms around its branches', () => {
  const { program, tensorPrefix } = readModel(HUB_CONFIGS['google/gemma-3-270m'], undefined);
  const names = program.weights.map(({ name }) => name).filter((name) => name.startsWith('layers.17.'));
  const inLayer = names.map((name) => name.replace('layers.17.', '').replace('.weight', ''));
  expect(tensorPrefix).toBe('model.');
  expect(inLayer.toSorted()).toEqual([
    'input_layernorm',
    'mlp.down_proj',
    'mlp.gate_proj',
    'mlp.up_proj',
    'post_attention_layernorm',
    'post_feedforward_layernorm',
    'pre_feedforward_layernorm',
    'self_attn.k_norm',
    'self_attn.k_proj',
    'self_attn.o_proj',
    'self_attn.q_norm',
    'self_attn.q_proj',
    'self_attn.v_proj',
  ]);
});
