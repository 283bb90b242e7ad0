import { decoderCheckpoint, type DecoderConfig } from './decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';

/** The id of a checkpoint of half a gigabyte in bf16, in the layout of the Llama 3.2 models. */
export const FULL_SIZE_LLAMA = 'generated/full-size-llama';

const VOCAB_SIZE = 49_152;
const WIDTH = 1024;

/** Bytes of its embedding in bf16. */
export const LARGEST_TENSOR_BYTES = 2 * VOCAB_SIZE * WIDTH;

/** The id of a checkpoint with the sizes of SmolLM2-135M, and weights without meaning. */
export const SMOLLM2_SIZE = 'generated/smollm2-135m';

export function smolLm2Size(): GeneratedCheckpoint {
  return llamaCheckpoint({
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
  });
}

export function fullSizeLlama(): GeneratedCheckpoint {
  return llamaCheckpoint({
    hidden_size: WIDTH,
    intermediate_size: 2816,
    num_hidden_layers: 18,
    num_attention_heads: 16,
    num_key_value_heads: 4,
  });
}

type Sizes = Pick<
  DecoderConfig,
  'hidden_size' | 'intermediate_size' | 'num_hidden_layers' | 'num_attention_heads' | 'num_key_value_heads'
>;

function llamaCheckpoint(sizes: Sizes): GeneratedCheckpoint {
  return decoderCheckpoint({
    config: {
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      vocab_size: VOCAB_SIZE,
      ...sizes,
      max_position_embeddings: 8192,
      hidden_act: 'silu',
      rms_norm_eps: 1e-5,
      rope_theta: 100_000,
      tie_word_embeddings: true,
      eos_token_id: 0,
    },
    generationConfig: { eos_token_id: 0 },
    tokenizerClass: 'GPT2Tokenizer',
    seed: 1,
    isTied: true,
  });
}
