import { decoderCheckpoint } from './decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';

/** The id of a checkpoint of half a gigabyte in bf16, in the layout of the Llama 3.2 models. */
export const FULL_SIZE_LLAMA = 'generated/full-size-llama';

const VOCAB_SIZE = 49_152;
const WIDTH = 1024;

/** Bytes of its embedding in bf16. */
export const LARGEST_TENSOR_BYTES = 2 * VOCAB_SIZE * WIDTH;

/** The id of a checkpoint with the sizes of SmolLM2-135M, and weights without meaning. */
export const SMOLLM2_SIZE = 'generated/smollm2-135m';

export const smolLm2Size = (): GeneratedCheckpoint => llamaCheckpoint(30, 576, 1536, 9, 3);

export const fullSizeLlama = (): GeneratedCheckpoint => llamaCheckpoint(18, WIDTH, 2816, 16, 4);

function llamaCheckpoint(
  numLayers: number,
  width: number,
  inner: number,
  numHeads: number,
  numKvHeads: number,
): GeneratedCheckpoint {
  return decoderCheckpoint({
    config: {
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      vocab_size: VOCAB_SIZE,
      hidden_size: width,
      intermediate_size: inner,
      num_hidden_layers: numLayers,
      num_attention_heads: numHeads,
      num_key_value_heads: numKvHeads,
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
  });
}
