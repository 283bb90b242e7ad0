import { fileOf, jsonFile, type GeneratedFile } from './generated-file.ts';
import type { GeneratedTensor, TensorDtype } from './generated-tensor.ts';
import { safetensorsFile } from './safetensors-file.ts';
import { byteTokenizer, byteVocabulary } from './tokenizer.ts';

/** A checkpoint in the hub's layout, by the names of its files. */
export type GeneratedCheckpoint = ReadonlyMap<string, GeneratedFile>;

/** The fields of `config.json`; the rest are those of `openai-community/gpt2`. */
export interface CheckpointConfig {
  readonly n_embd: number;
  readonly n_head: number;
  readonly n_layer: number;
  readonly n_positions: number;
  readonly vocab_size: number;
  readonly n_inner?: number;
  readonly layer_norm_epsilon?: number;
  readonly activation_function?: string;
  readonly scale_attn_weights?: boolean;
  readonly scale_attn_by_inverse_layer_idx?: boolean;
  readonly reorder_and_upcast_attn?: boolean;
  readonly tie_word_embeddings?: boolean;
}

export interface CheckpointSpec {
  readonly config: CheckpointConfig;
  readonly dtype?: TensorDtype;
  /** `transformer.` where it was saved with its head. */
  readonly prefix?: string;
  /** The dtype of the masks that are saved with each layer; none where left out. */
  readonly maskDtype?: TensorDtype;
  /** Whether `lm_head.weight` is in the file, tied or not. */
  readonly hasHead?: boolean;
  /** Tokens whose rows of the head are zeros, so that the model hardly ever says them. */
  readonly isMute?: (tokenId: number) => boolean;
  readonly numShards?: number;
  readonly headerLength?: number;
  /** Largest distance of a matrix's values from 0, a power of two. */
  readonly amplitude?: number;
  /** `vocab.json` and `merges.txt` instead of `tokenizer.json`. */
  readonly isOldTokenizer?: boolean;
}

export function generateCheckpoint(spec: CheckpointSpec): GeneratedCheckpoint {
  const end = spec.config.vocab_size - 1;
  return new Map([
    ['config.json', jsonFile(configOf(spec.config))],
    ['generation_config.json', jsonFile({ bos_token_id: end, eos_token_id: end })],
    ...tokenizerFiles(spec),
    ...weightFiles(spec),
  ]);
}

function configOf(config: CheckpointConfig): object {
  const end = config.vocab_size - 1;
  return {
    model_type: 'gpt2',
    architectures: ['GPT2LMHeadModel'],
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    n_ctx: config.n_positions,
    bos_token_id: end,
    eos_token_id: end,
    ...config,
  };
}

function tokenizerFiles({ config, isOldTokenizer }: CheckpointSpec): readonly [string, GeneratedFile][] {
  const { vocab_size: vocabSize } = config;
  if (isOldTokenizer) {
    return [
      ['vocab.json', jsonFile(byteVocabulary(vocabSize))],
      ['merges.txt', fileOf('#version: 0.2\n')],
    ];
  }
  return [
    ['tokenizer.json', jsonFile(byteTokenizer(vocabSize))],
    [
      'tokenizer_config.json',
      jsonFile({ tokenizer_class: 'GPT2Tokenizer', model_max_length: config.n_positions }),
    ],
  ];
}

function weightFiles(spec: CheckpointSpec): readonly [string, GeneratedFile][] {
  const tensors = tensorsOf(spec);
  const { numShards = 1, headerLength } = spec;
  if (numShards === 1) return [['model.safetensors', safetensorsFile(tensors, headerLength)]];
  const shardLength = Math.ceil(tensors.length / numShards);
  const shards = Array.from({ length: numShards }, (_, i) => {
    return {
      name: `model-${fiveDigits(i + 1)}-of-${fiveDigits(numShards)}.safetensors`,
      tensors: tensors.slice(i * shardLength, (i + 1) * shardLength),
    };
  });
  const weightMap = shards.flatMap(({ name, tensors: part }) => part.map((tensor) => [tensor.name, name]));
  return [
    ['model.safetensors.index.json', jsonFile({ metadata: {}, weight_map: Object.fromEntries(weightMap) })],
    ...shards.map(({ name, tensors: part }): [string, GeneratedFile] => [name, safetensorsFile(part)]),
  ];
}

function fiveDigits(value: number): string {
  return String(value).padStart(5, '0');
}

function tensorsOf(spec: CheckpointSpec): readonly GeneratedTensor[] {
  const { prefix = '', hasHead = false, dtype = 'F32', amplitude = 2 ** -2, isMute, config } = spec;
  const { n_embd: e, vocab_size: vocabSize, n_positions: numPositions } = config;
  const matrix = (name: string, shape: readonly number[], factor = 1): GeneratedTensor => ({
    name: `${prefix}${name}`,
    dtype,
    shape,
    fill: { kind: 'random', center: 0, amplitude: amplitude * factor },
  });
  const norm = (name: string): readonly GeneratedTensor[] => [
    matrix(`${name}.bias`, [e], 1 / 4),
    { ...matrix(`${name}.weight`, [e]), fill: { kind: 'random', center: 1, amplitude: 2 ** -3 } },
  ];
  const linear = (name: string, from: number, to: number): readonly GeneratedTensor[] => [
    matrix(`${name}.bias`, [to], 1 / 4),
    matrix(`${name}.weight`, [from, to]),
  ];
  const head: GeneratedTensor = {
    // Tokens that are not mute are far likelier than the others.
    ...matrix('', [vocabSize, e], isMute ? 4 : 1),
    name: 'lm_head.weight',
    ...(isMute && { isZero: isMute }),
  };
  const inner = config.n_inner ?? 4 * e;
  const layers = Array.from({ length: config.n_layer }, (_, layer) => {
    const h = `h.${layer}`;
    return [
      ...norm(`${h}.ln_1`),
      ...masksOf(`${prefix}${h}.attn`, spec),
      ...linear(`${h}.attn.c_attn`, e, 3 * e),
      ...linear(`${h}.attn.c_proj`, e, e),
      ...norm(`${h}.ln_2`),
      ...linear(`${h}.mlp.c_fc`, e, inner),
      ...linear(`${h}.mlp.c_proj`, inner, e),
    ];
  });
  return [
    ...norm('ln_f'),
    matrix('wpe.weight', [numPositions, e], 1 / 4),
    ...layers.flat(),
    ...(hasHead ? [head] : []),
    matrix('wte.weight', [vocabSize, e]),
  ];
}

function masksOf(attention: string, { maskDtype, config }: CheckpointSpec): readonly GeneratedTensor[] {
  if (!maskDtype) return [];
  const size = config.n_positions;
  return [
    { name: `${attention}.bias`, dtype: maskDtype, shape: [1, 1, size, size], fill: { kind: 'causal' } },
  ];
}
