import { decoderCheckpoint } from '../../../hub-server/checkpoints/decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from '../../../hub-server/checkpoints/generated-checkpoint.ts';
import { gpt2Checkpoint } from '../../../hub-server/checkpoints/gpt2-checkpoint.ts';

const WIDTH = 64;
const VOCAB_SIZE = 512;
const CONTEXT_LENGTH = 256;

/**
 * Models with as many layers as GPT-2 124M and Llama 3.2 1B, so with as many dispatches in a step. They are narrow, so that a
 * step is short on a software adapter.
 */
export const DEEP_STAND_INS: ReadonlyMap<string, () => GeneratedCheckpoint> = new Map([
  ['gpt2-12-layers', gpt2StandIn],
  ['llama-16-layers', llamaStandIn],
]);

function gpt2StandIn(): GeneratedCheckpoint {
  return gpt2Checkpoint({
    config: {
      n_embd: WIDTH,
      n_head: 2,
      n_layer: 12,
      n_positions: CONTEXT_LENGTH,
      vocab_size: VOCAB_SIZE,
    },
  });
}

function llamaStandIn(): GeneratedCheckpoint {
  const end = VOCAB_SIZE - 1;
  return decoderCheckpoint({
    config: {
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      bos_token_id: end,
      eos_token_id: end,
      hidden_act: 'silu',
      hidden_size: WIDTH,
      intermediate_size: 192,
      max_position_embeddings: CONTEXT_LENGTH,
      num_attention_heads: 2,
      num_hidden_layers: 16,
      num_key_value_heads: 1,
      rms_norm_eps: 1e-5,
      rope_theta: 500_000,
      tie_word_embeddings: true,
      vocab_size: VOCAB_SIZE,
    },
    generationConfig: { eos_token_id: end },
    tokenizerClass: 'PreTrainedTokenizerFast',
    seed: 1,
  });
}
