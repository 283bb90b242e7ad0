import type { GeneratedCheckpoint } from './generated-checkpoint.ts';
import { gpt2Checkpoint, type Gpt2Config, type Gpt2Spec } from './gpt2-checkpoint.ts';

/** Odd, as GPT-2's is. */
const TINY: Gpt2Config = { n_embd: 64, n_head: 2, n_layer: 2, n_positions: 64, vocab_size: 257 };

/** The layout of `openai-community/gpt2`: 160 tensors of F32, data from byte 14,291 on, 548,105,171 bytes. */
const GPT2: Gpt2Config = {
  n_embd: 768,
  n_head: 12,
  n_layer: 12,
  n_positions: 1024,
  vocab_size: 50_257,
};

export const FULL_SIZE = 'generated/gpt2';

/** By their ids: one for each way in which checkpoints differ, and one of GPT-2's own size. Made when asked for. */
export const CHECKPOINTS: ReadonlyMap<string, () => GeneratedCheckpoint> = new Map([
  [
    FULL_SIZE,
    () => gpt2Checkpoint({ config: GPT2, maskDtype: 'F32', headerLength: 14_283, amplitude: 2 ** -4 }),
  ],
  tiny('plain', {}),
  tiny('with-masks', {}, { prefix: 'transformer.', maskDtype: 'F32' }),
  tiny('with-byte-masks', {}, { maskDtype: 'U8', hasHead: true }),
  tiny('separate-head', { tie_word_embeddings: false }, { prefix: 'transformer.', hasHead: true }),
  tiny('float16', {}, { dtype: 'F16' }),
  tiny('bfloat16', {}, { dtype: 'BF16', isOldTokenizer: true }),
  tiny('sharded', { n_layer: 3 }, { numShards: 3, maskDtype: 'F32' }),
  tiny('unaligned', {}, { headerLength: 4001 }),
  ...['gelu', 'gelu_pytorch_tanh', 'relu', 'silu', 'quick_gelu', 'tanh', 'sigmoid'].map((activation) =>
    tiny(activation, { activation_function: activation }),
  ),
  tiny('unscaled', { scale_attn_weights: false }),
  tiny('scaled-by-layer', {
    n_layer: 3,
    scale_attn_by_inverse_layer_idx: true,
    reorder_and_upcast_attn: true,
  }),
  tiny('narrow-inner', { n_inner: 96, n_positions: 50, layer_norm_epsilon: 1e-2 }),
  tiny('small-heads', { n_head: 8 }),
  tiny('heads-of-80', { n_embd: 160 }),
  tiny('large-heads', { n_embd: 256 }),
  tiny('uneven-blocks', { n_embd: 48, n_inner: 96 }),
]);

function tiny(
  name: string,
  change: Partial<Gpt2Config>,
  spec: Omit<Gpt2Spec, 'config'> = {},
): [string, () => GeneratedCheckpoint] {
  return [`generated/${name}`, () => gpt2Checkpoint({ config: { ...TINY, ...change }, ...spec })];
}
