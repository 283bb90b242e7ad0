import { generateCheckpoint, type CheckpointSpec, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import type { GeneratedTensor, TensorDtype } from './generated-tensor.ts';

/** The fields of `config.json`; the rest are those of `openai-community/gpt2`. */
export interface Gpt2Config {
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

export interface Gpt2Spec extends Pick<CheckpointSpec, 'numShards' | 'headerLength'> {
  readonly config: Gpt2Config;
  readonly dtype?: TensorDtype;
  /** `transformer.` where it was saved with its head. */
  readonly prefix?: string;
  /** The dtype of the masks that are saved with each layer; none where left out. */
  readonly maskDtype?: TensorDtype;
  /** Whether `lm_head.weight` is in the file, tied or not. */
  readonly hasHead?: boolean;
  /** Tokens whose rows of the head are zeros, so that the model hardly ever says them. */
  readonly isMute?: (tokenId: number) => boolean;
  /** Largest distance of a matrix's values from 0, a power of two. */
  readonly amplitude?: number;
  /** `vocab.json` and `merges.txt` instead of `tokenizer.json`. */
  readonly isOldTokenizer?: boolean;
}

export function gpt2Checkpoint(spec: Gpt2Spec): GeneratedCheckpoint {
  const { config, isOldTokenizer = false, numShards, headerLength } = spec;
  const end = config.vocab_size - 1;
  return generateCheckpoint({
    config: {
      model_type: 'gpt2',
      architectures: ['GPT2LMHeadModel'],
      activation_function: 'gelu_new',
      layer_norm_epsilon: 1e-5,
      n_ctx: config.n_positions,
      bos_token_id: end,
      eos_token_id: end,
      ...config,
    },
    generationConfig: { bos_token_id: end, eos_token_id: end },
    tokenizerConfig: isOldTokenizer
      ? undefined
      : { tokenizer_class: 'GPT2Tokenizer', model_max_length: config.n_positions },
    tensors: tensorsOf(spec),
    numShards,
    headerLength,
  });
}

function tensorsOf(spec: Gpt2Spec): readonly GeneratedTensor[] {
  const { prefix = '', hasHead = false, isMute, config } = spec;
  const { n_embd: e, vocab_size: vocabSize, n_positions: numPositions } = config;
  const { matrix, norm, linear } = buildersOf(spec);
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

/** Makes the tensors of a checkpoint by their names and sizes. */
function buildersOf({ prefix = '', dtype = 'F32', amplitude = 2 ** -2, config }: Gpt2Spec) {
  const matrix = (name: string, shape: readonly number[], factor = 1): GeneratedTensor => ({
    name: `${prefix}${name}`,
    dtype,
    shape,
    fill: { kind: 'random', center: 0, amplitude: amplitude * factor },
  });
  const norm = (name: string): readonly GeneratedTensor[] => [
    matrix(`${name}.bias`, [config.n_embd], 1 / 4),
    { ...matrix(`${name}.weight`, [config.n_embd]), fill: { kind: 'random', center: 1, amplitude: 2 ** -3 } },
  ];
  const linear = (name: string, from: number, to: number): readonly GeneratedTensor[] => [
    matrix(`${name}.bias`, [to], 1 / 4),
    matrix(`${name}.weight`, [from, to]),
  ];
  return { matrix, norm, linear };
}

function masksOf(attention: string, { maskDtype, config }: Gpt2Spec): readonly GeneratedTensor[] {
  if (!maskDtype) return [];
  const size = config.n_positions;
  return [
    { name: `${attention}.bias`, dtype: maskDtype, shape: [1, 1, size, size], fill: { kind: 'causal' } },
  ];
}
