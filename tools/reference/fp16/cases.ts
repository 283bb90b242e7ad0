import { readFileSync } from 'node:fs';

import { decoderCheckpoint, type DecoderSpec } from '../../hub-server/checkpoints/decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from '../../hub-server/checkpoints/generated-checkpoint.ts';
import { fileOf } from '../../hub-server/checkpoints/generated-file.ts';
import { gpt2Checkpoint } from '../../hub-server/checkpoints/gpt2-checkpoint.ts';
import type { Dtype } from '../../../src/protocol/models.ts';

/** A model, and the dtypes in which it is run. */
export interface Case {
  readonly family: string;
  readonly headSize: number;
  readonly dtypes: readonly Dtype[];
  generate(): GeneratedCheckpoint;
}

export const CONTEXT_LENGTH = 1024;

const HEAD_SIZES = [64, 80, 96, 128, 256];
const BOTH: readonly Dtype[] = ['fp32', 'fp16'];

const COMMON = {
  vocab_size: 320,
  hidden_size: 128,
  intermediate_size: 256,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: CONTEXT_LENGTH,
  rms_norm_eps: 1e-6,
  hidden_act: 'silu',
  bos_token_id: 319,
  eos_token_id: 319,
} as const;

const LLAMA: DecoderSpec = {
  config: { ...COMMON, model_type: 'llama', rope_theta: 500_000, tie_word_embeddings: false },
  generationConfig: {},
  tokenizerClass: 'PreTrainedTokenizerFast',
  seed: 2,
};

const QWEN3: DecoderSpec = {
  ...LLAMA,
  config: { ...COMMON, model_type: 'qwen3', rope_theta: 1_000_000, tie_word_embeddings: true },
};

/** A layer with a window, and one without. */
const GEMMA3: DecoderSpec = {
  ...QWEN3,
  config: {
    ...COMMON,
    model_type: 'gemma3_text',
    hidden_activation: 'gelu_pytorch_tanh',
    rope_theta: 1_000_000,
    rope_local_base_freq: 10_000,
    sliding_window: 64,
    sliding_window_pattern: 2,
  },
};

/** All tested models, the largest first. Gemma computes only in fp32, because its activations exceed fp16. */
export const CASES: readonly Case[] = [
  { family: 'Storyteller', headSize: 32, dtypes: BOTH, generate: storyteller },
  {
    family: 'Llama',
    headSize: 32,
    dtypes: ['q8', 'q4'],
    generate: () => decoder({ ...LLAMA, isQuantized: true }, 32),
  },
  ...HEAD_SIZES.toReversed().flatMap((headSize): readonly Case[] => [
    { family: 'GPT-2', headSize, dtypes: BOTH, generate: () => gpt2(headSize) },
    { family: 'Llama', headSize, dtypes: BOTH, generate: () => decoder(LLAMA, headSize) },
    { family: 'Qwen 3', headSize, dtypes: BOTH, generate: () => decoder(QWEN3, headSize) },
    { family: 'Gemma 3', headSize, dtypes: ['fp32'], generate: () => decoder(GEMMA3, headSize) },
  ]),
];

/** The model that the page starts with: GPT-2, with weights that were trained. */
function storyteller(): GeneratedCheckpoint {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const folder = new URL('../../../public/models/storyteller/', import.meta.url);
  return new Map(names.map((name) => [name, fileOf(readFileSync(new URL(name, folder)))]));
}

function gpt2(headSize: number): GeneratedCheckpoint {
  const width = 2 * headSize;
  return gpt2Checkpoint({
    config: {
      n_embd: width,
      n_head: 2,
      n_layer: 2,
      n_inner: 256,
      n_positions: CONTEXT_LENGTH,
      vocab_size: COMMON.vocab_size,
    },
    dtype: 'F16',
    // A product with such a matrix is about as large as its input.
    amplitude: 2 ** Math.round(Math.log2(Math.sqrt(3 / width))),
  });
}

function decoder(spec: DecoderSpec, headSize: number): GeneratedCheckpoint {
  const config = { ...spec.config, head_dim: headSize, query_pre_attn_scalar: headSize };
  return decoderCheckpoint({ ...spec, config });
}
