import * as v from 'valibot';

import { memoryFile } from '../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { readFloats } from '../../../src/worker/models/checkpoint/float-formats.ts';
import { readSafetensorsIndex } from '../../../src/worker/models/checkpoint/safetensors.ts';
import { ggufFile, type GgufTensor } from '../../../src/worker/testing/gguf-builder.ts';

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/^transformer\./, ''],
  [/^wte/, 'token_embd'],
  [/^wpe/, 'position_embd'],
  [/^ln_f/, 'output_norm'],
  [/^h\.(\d+)\./, 'blk.$1.'],
  [/ln_1/, 'attn_norm'],
  [/ln_2/, 'ffn_norm'],
  [/attn\.c_attn/, 'attn_qkv'],
  [/attn\.c_proj/, 'attn_output'],
  [/mlp\.c_fc/, 'ffn_up'],
  [/mlp\.c_proj/, 'ffn_down'],
];

const config = v.object({
  n_positions: v.number(),
  n_embd: v.number(),
  n_layer: v.number(),
  n_head: v.number(),
  layer_norm_epsilon: v.number(),
  eos_token_id: v.number(),
});

const tokenizer = v.object({
  model: v.object({
    vocab: v.record(v.string(), v.number()),
    merges: v.array(v.union([v.string(), v.array(v.string())])),
  }),
});

/** A GPT-2 checkpoint as a GGUF file, in fp32, under the names of two types. */
export async function ggufTwin(
  files: ReadonlyMap<string, Uint8Array>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const json = (name: string): unknown => JSON.parse(new TextDecoder().decode(files.get(name)));
  const fields = v.parse(config, json('config.json'));
  const { model } = v.parse(tokenizer, json('tokenizer.json'));
  const tokens = Object.entries(model.vocab)
    .toSorted(([, a], [, b]) => a - b)
    .map(([token]) => token);
  const metadata = {
    'general.architecture': 'gpt2',
    'gpt2.context_length': fields.n_positions,
    'gpt2.embedding_length': fields.n_embd,
    'gpt2.feed_forward_length': 4 * fields.n_embd,
    'gpt2.block_count': fields.n_layer,
    'gpt2.attention.head_count': fields.n_head,
    'gpt2.attention.layer_norm_epsilon': fields.layer_norm_epsilon,
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': tokens.map((_, id) => (id === fields.eos_token_id ? 3 : 1)),
    'tokenizer.ggml.merges': model.merges.map((pair) => (typeof pair === 'string' ? pair : pair.join(' '))),
    'tokenizer.ggml.eos_token_id': fields.eos_token_id,
  };
  const bytes = ggufFile(metadata, await tensorsOf(files.get('model.safetensors') ?? new Uint8Array()));
  return new Map([
    ['twin-F32.gguf', bytes],
    ['twin-f32-copy.gguf', bytes],
  ]);
}

async function tensorsOf(weights: Uint8Array): Promise<readonly GgufTensor[]> {
  const file = memoryFile('model.safetensors', weights);
  const views = [...(await readSafetensorsIndex(file))];
  return Promise.all(
    views.map(async ([name, { shape, begin, end }]) => {
      const values = readFloats(await file.read(begin, end), 'F16');
      const renamed = NAMES.reduce(
        (text, [pattern, replacement]) => text.replace(pattern, replacement),
        name,
      );
      const [rows = 1, columns = 1] = shape;
      // llama.cpp stores matrices as [out, in].
      const isMatrix = renamed.startsWith('blk.') && shape.length === 2;
      if (!isMatrix) return { name: renamed, shape, values };
      const turned = values.map((_, i) => values[(i % rows) * columns + Math.floor(i / rows)] ?? 0);
      return { name: renamed, shape: [columns, rows], values: turned };
    }),
  );
}
