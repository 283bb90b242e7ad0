import { decoderCheckpoint, type DecoderConfig } from '../../hub-server/checkpoints/decoder-checkpoint.ts';
import type { GeneratedCheckpoint } from '../../hub-server/checkpoints/generated-checkpoint.ts';
import { jsonFile } from '../../hub-server/checkpoints/generated-file.ts';
import { gpt2Checkpoint, type Gpt2Config } from '../../hub-server/checkpoints/gpt2-checkpoint.ts';

/** A model with random weights, the same in every run. */
export interface Shape {
  readonly id: string;
  readonly family: 'gpt2' | 'llama';
  /** Label in the tables. */
  readonly label: string;
  /** Makes the checkpoint's files. */
  generate(): GeneratedCheckpoint;
}

/** The base of SmolLM2's rotary frequencies. */
const ROPE_THETA = 100_000;

export const SHAPES: readonly Shape[] = [
  gpt2('gpt2-124m', 'GPT-2, 124 M', {
    n_embd: 768,
    n_head: 12,
    n_layer: 12,
    n_positions: 1024,
    vocab_size: 50_257,
  }),
  llama('llama-135m', 'SmolLM2, 135 M', {
    model_type: 'llama',
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    vocab_size: 49_152,
    max_position_embeddings: 8192,
  }),
];

/** The models of a short run. */
export const TINY_SHAPES: readonly Shape[] = [
  gpt2('gpt2-tiny', 'GPT-2, tiny', { n_embd: 64, n_head: 2, n_layer: 2, n_positions: 128, vocab_size: 2048 }),
  llama('llama-tiny', 'Llama, tiny', {
    model_type: 'llama',
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    vocab_size: 2048,
    max_position_embeddings: 128,
  }),
];

function gpt2(id: string, label: string, config: Gpt2Config): Shape {
  // Wide models need smaller weights, or their residual stream grows from layer to layer.
  const amplitude = config.n_embd > 64 ? 2 ** -4 : 2 ** -2;
  return {
    id,
    family: 'gpt2',
    label,
    generate: () => withoutEnd(gpt2Checkpoint({ config, amplitude })),
  };
}

function llama(id: string, label: string, shape: DecoderConfig): Shape {
  const config: DecoderConfig = {
    architectures: ['LlamaForCausalLM'],
    hidden_act: 'silu',
    rms_norm_eps: 1e-5,
    rope_theta: ROPE_THETA,
    tie_word_embeddings: true,
    ...shape,
  };
  const spec = { config, generationConfig: {}, tokenizerClass: 'GPT2Tokenizer', seed: 1 };
  return { id, family: 'llama', label, generate: () => withoutEnd(decoderCheckpoint(spec)) };
}

/**
 * Removes the end tokens, so that all texts have the requested length. Replaces tokens that are part of a character: a model
 * with random weights would join them to invalid bytes, on which wllama fails.
 */
function withoutEnd(checkpoint: GeneratedCheckpoint): GeneratedCheckpoint {
  const tokenizer: Tokenizer = JSON.parse(readText(checkpoint, 'tokenizer.json'));
  const vocab = Object.entries(tokenizer.model.vocab).map(([spelling, id]): [string, number] =>
    id >= NUM_ASCII && id < NUM_BYTES ? [`Ġb${id}`, id] : [spelling, id],
  );
  const fields: object = JSON.parse(readText(checkpoint, 'config.json'));
  return new Map([
    ...checkpoint,
    ['config.json', jsonFile({ ...fields, bos_token_id: null, eos_token_id: null })],
    ['generation_config.json', jsonFile({})],
    [
      'tokenizer.json',
      jsonFile({ ...tokenizer, model: { ...tokenizer.model, vocab: Object.fromEntries(vocab) } }),
    ],
  ]);
}

/** The first tokens of the vocabulary stand for bytes. */
const NUM_BYTES = 256;
const NUM_ASCII = 128;

interface Tokenizer {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

function readText(checkpoint: GeneratedCheckpoint, name: string): string {
  const file = checkpoint.get(name);
  if (!file) throw new Error(`Expected a checkpoint with a ${name}`);
  return new TextDecoder().decode(file.read(0, file.size));
}
