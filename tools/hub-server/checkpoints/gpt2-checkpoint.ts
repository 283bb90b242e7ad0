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
  readonly [field: string]: unknown;
}

export interface Gpt2Spec extends Pick<CheckpointSpec, 'numShards' | 'headerLength'> {
  readonly config: Gpt2Config;
  readonly dtype?: TensorDtype;
  /** `transformer.` where it was saved with its head. */
  readonly prefix?: string;
  /** The dtype of the masks that are saved with each layer; none where left out. */
  readonly maskDtype?: TensorDtype;
  /** Whether `lm_head.weight` is in the file: a copy of the embedding where it is tied. */
  readonly hasHead?: boolean;
  /** Tokens whose rows of the head are zeros, so that the model hardly ever says them. */
  readonly isMute?: (tokenId: number) => boolean;
  /** Largest distance of a matrix's values from 0, a power of two. */
  readonly amplitude?: number;
  /** The values of each tensor, by its name; random ones where left out. */
  readonly fillOf?: (name: string) => GeneratedTensor['fill'];
  /** `vocab.json` and `merges.txt` instead of `tokenizer.json`. */
  readonly isOldTokenizer?: boolean;
}

export function gpt2Checkpoint(spec: Gpt2Spec): GeneratedCheckpoint {
  const { config, isOldTokenizer = false, fillOf, numShards, headerLength } = spec;
  const end = config.vocab_size - 1;
  const tensors = tensorsOf(spec);
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
    tensors: fillOf ? tensors.map((tensor) => ({ ...tensor, fill: fillOf(tensor.name) })) : tensors,
    numShards,
    headerLength,
  });
}

/** In the order in which huggingface/transformers saves them. */
function tensorsOf(spec: Gpt2Spec): readonly GeneratedTensor[] {
  const {
    prefix = '',
    dtype = 'F32',
    amplitude = 2 ** -2,
    maskDtype,
    hasHead = false,
    isMute,
    config,
  } = spec;
  const { n_embd: e, vocab_size: vocabSize, n_positions: numPositions, n_inner: inner = 4 * e } = config;
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
  const masks = (attention: string): readonly GeneratedTensor[] => {
    if (!maskDtype) return [];
    const shape = [1, 1, numPositions, numPositions];
    return [{ name: `${prefix}${attention}.bias`, dtype: maskDtype, shape, fill: { kind: 'causal' } }];
  };
  const layers = Array.from({ length: config.n_layer }, (_, layer) => {
    const h = `h.${layer}`;
    return [
      ...norm(`${h}.ln_1`),
      ...masks(`${h}.attn`),
      ...linear(`${h}.attn.c_attn`, e, 3 * e),
      ...linear(`${h}.attn.c_proj`, e, e),
      ...norm(`${h}.ln_2`),
      ...linear(`${h}.mlp.c_fc`, e, inner),
      ...linear(`${h}.mlp.c_proj`, inner, e),
    ];
  });
  // Tokens that are not mute are far likelier than the others.
  const head = {
    ...matrix('', [vocabSize, e], isMute ? 4 : 1),
    name: 'lm_head.weight',
    ...(config['tie_word_embeddings'] !== false && { copyOf: `${prefix}wte.weight` }),
  };
  return [
    ...norm('ln_f'),
    matrix('wpe.weight', [numPositions, e], 1 / 4),
    ...layers.flat(),
    ...(hasHead ? [{ ...head, ...(isMute && { isZero: isMute }) }] : []),
    matrix('wte.weight', [vocabSize, e]),
  ];
}
