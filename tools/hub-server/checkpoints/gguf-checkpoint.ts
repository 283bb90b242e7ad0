import * as v from 'valibot';

import { recordOf } from '../../../src/protocol/wire.ts';
import { memoryFile } from '../../../src/worker/models/formats/checkpoint-files.ts';
import { isWeightDtype, readFloats } from '../../../src/worker/models/formats/float-formats.ts';
import { readSafetensorsIndex } from '../../../src/worker/models/formats/safetensors.ts';
import {
  ggufFile,
  type GgufTensor,
  type GgufType,
  type MetadataValue,
} from '../../../src/worker/testing/gguf-builder.ts';
import type { GeneratedFile } from './generated-file.ts';
import { lfm2InnerSize } from './lfm2-tensors.ts';
// Of `config.json`'s fields: keys of the metadata, after the architecture.
import gguf from './gguf-names.json' with { type: 'json' };
import { ropeFactors, ropeKeys } from './gguf-rope.ts';

type Fields = Readonly<Record<string, unknown>>;
type Metadata = Parameters<typeof ggufFile>[0];
/** Keys below the architecture that replace those of the converter; null leaves one out. */
type KeyChanges = Readonly<Record<string, MetadataValue | null | undefined>>;

/** llama.cpp's names of tensors, by patterns of the checkpoint's, in order. */
const TENSORS = gguf.tensors.map(([pattern = '', name = '']) => [new RegExp(pattern), name] as const);

const tokenizer = v.object({
  model: v.object({
    vocab: recordOf(v.number()),
    merges: v.array(v.union([v.string(), v.array(v.string())])),
  }),
  added_tokens: v.array(v.object({ id: v.number() })),
});

const configs = v.looseObject({ model_type: v.string(), eos_token_id: v.optional(v.unknown()) });

/** `LLAMA_FTYPE_*` of llama.cpp. */
const FILE_TYPE: Readonly<Record<GgufType, number>> = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 7 };

/** Values of a block, which lie in one row. */
const BLOCK = 32;

/**
 * A checkpoint as llama.cpp's converter writes it. Source: `convert_hf_to_gguf.py` of ggml-org/llama.cpp.
 *
 * @param type How matrices of whole blocks are stored. Vectors, kernels of convolutions, and GPT-2's positions are in fp32.
 * @param changes What another writer would write.
 */
export async function ggufCheckpoint(
  files: ReadonlyMap<string, Uint8Array | GeneratedFile>,
  type: GgufType = 'F32',
  changes: KeyChanges = {},
): Promise<Uint8Array> {
  const contents = Array.from(files, ([name, file]): [string, Uint8Array] => [
    name,
    file instanceof Uint8Array ? file : file.read(0, file.size),
  ]);
  const bytes = new Map(contents);
  const json = (name: string): unknown => JSON.parse(new TextDecoder().decode(bytes.get(name)));
  const whole = v.parse(configs, json('config.json'));
  // A file holds the text model alone of one that reads pictures.
  const config = 'text_config' in whole ? v.parse(configs, whole['text_config']) : whole;
  const weights = contents.filter(([name]) => name.endsWith('.safetensors'));
  const tensors = await Promise.all(weights.map(([, file]) => tensorsOf(file, config)));
  const metadata = {
    ...changed(metadataOf(config), changes),
    ...tokenizerOf(json('tokenizer.json'), config),
  };
  const typed = tensors.flat().map((tensor): GgufTensor => {
    const isMatrix =
      tensor.shape.length > 1 &&
      (tensor.shape.at(-1) ?? 0) % BLOCK === 0 &&
      !tensor.name.startsWith('position_embd');
    return isMatrix ? { ...tensor, type } : tensor;
  });
  const all = { ...metadata, 'general.file_type': FILE_TYPE[type] };
  return ggufFile(all, [...typed, ...ropeFactors(config)]);
}

function changed(metadata: Metadata, changes: KeyChanges): Metadata {
  const all = { ...metadata };
  for (const [name, value] of Object.entries(changes)) {
    const key = `${String(metadata['general.architecture'])}.${name}`;
    if (value === null || value === undefined) delete all[key];
    else all[key] = value;
  }
  return all;
}

/** `general.architecture` by `model_type`, where they differ. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  gemma3_text: 'gemma3',
  granitemoehybrid: 'granite',
  ministral3: 'mistral3',
  olmo3: 'olmo2',
  qwen3_5_text: 'qwen35',
};

/** Types whose windows the metadata has. */
const WITH_WINDOWS: readonly string[] = ['gemma3_text', 'olmo3', 'phi3'];

function metadataOf(config: Fields): Metadata {
  const modelType = String(config['model_type']);
  const architecture = ARCHITECTURES[modelType] ?? modelType;
  const entries = Object.entries(gguf.keys).map(([field, key]): [string, unknown] => [
    `${architecture}.${key}`,
    config[field],
  ]);
  const hasKey = (key: string): boolean =>
    WITH_WINDOWS.includes(modelType) || !key.includes('sliding_window');
  const given = entries.filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && hasKey(entry[0]),
  );
  const width = Number(config['hidden_size'] ?? config['n_embd']);
  const numHeads = Number(config['num_attention_heads'] ?? config['n_head']);
  return {
    'general.architecture': architecture,
    [`${architecture}.feed_forward_length`]: 4 * width,
    [`${architecture}.rope.dimension_count`]: Number(config['head_dim'] ?? width / numHeads),
    ...(typeof config['head_dim'] === 'number' && {
      [`${architecture}.attention.value_length`]: config['head_dim'],
    }),
    ...(modelType === 'qwen3_5_text' && {
      [`${architecture}.ssm.inner_size`]:
        Number(config['linear_num_value_heads']) * Number(config['linear_value_head_dim']),
    }),
    ...Object.fromEntries([
      ...given,
      ...Object.entries(ropeKeys(config)).map(([key, value]) => [`${architecture}.${key}`, value] as const),
    ]),
    ...(architecture === 'lfm2' && {
      'lfm2.attention.head_count_kv': v
        .parse(v.array(v.string()), config['layer_types'])
        .map((type) => (type === 'conv' ? 0 : Number(config['num_key_value_heads']))),
      'lfm2.feed_forward_length': lfm2InnerSize(config),
      'lfm2.rope.freq_base': Number(config['rope_theta'] ?? 1e6),
    }),
  };
}

function tokenizerOf(json: unknown, config: Fields): Metadata {
  const { model, added_tokens: added } = v.parse(tokenizer, json);
  const tokens = Object.entries(model.vocab)
    .toSorted(([, a], [, b]) => a - b)
    .map(([token]) => token);
  const [eos] = [config['eos_token_id']].flat();
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': tokens.map((_, id) => (added.some((token) => token.id === id) ? 3 : 1)),
    'tokenizer.ggml.merges': model.merges.map((pair) => (typeof pair === 'string' ? pair : pair.join(' '))),
    'tokenizer.ggml.bos_token_id': Number(eos),
    'tokenizer.ggml.eos_token_id': Number(eos),
    'tokenizer.ggml.add_bos_token': false,
  };
}

async function tensorsOf(weights: Uint8Array, config: Fields): Promise<readonly GgufTensor[]> {
  const file = memoryFile('model.safetensors', weights);
  // The vision tower has a file of its own, and the layers that guess several tokens are left out.
  const views = [...(await readSafetensorsIndex(file))].filter(
    ([name]) => !/^(?:model\.visual|mtp)\./.test(name),
  );
  const hasOutputNorms = ['gemma3_text', 'olmo2', 'olmo3', 'qwen3_5_text'].includes(
    String(config['model_type']),
  );
  const norm = hasOutputNorms ? 'post_attention_norm' : 'ffn_norm';
  const names = [...TENSORS, [/post_attention_layernorm/, norm] as const];
  const named = await Promise.all(
    views.map(async ([name, { shape, dtype, begin, end }]) => {
      if (!isWeightDtype(dtype)) throw new Error(`Expected ${name} to hold weights, got ${dtype}`);
      const values = readFloats(await file.read(begin, end), dtype);
      const renamed = names.reduce((text, [pattern, other]) => text.replace(pattern, other), name);
      return asWritten({ name: renamed, shape, values }, config);
    }),
  );
  return named.flatMap(splitGate);
}

/** The matrix of Granite's hybrids gives the gate and what it multiplies, which have one each in a file. */
function splitGate(tensor: GgufTensor): readonly GgufTensor[] {
  const { name, shape, values } = tensor;
  if (!name.includes('ffn_gate_and_up')) return [tensor];
  const [rows = 0, columns = 0] = shape;
  const half = (rows / 2) * columns;
  return [values.slice(0, half), values.slice(half)].map((part, i) => ({
    name: name.replace('ffn_gate_and_up', i === 0 ? 'ffn_gate' : 'ffn_up'),
    shape: [rows / 2, columns],
    values: part,
  }));
}

/**
 * Matrices of GPT-2 are transposed, queries and keys of Llama and its closest relatives permuted, norms of Gemma and Qwen3.5 have 1 added,
 * and kernels of LFM2 two dimensions.
 */
function asWritten(tensor: GgufTensor, config: Fields): GgufTensor {
  const { name, shape, values } = tensor;
  const [rows = 1, columns = 1] = shape;
  switch (config['model_type']) {
    case 'gpt2': {
      if (!name.startsWith('blk.') || shape.length < 2) return tensor;
      const turned = values.map((_, i) => values[(i % rows) * columns + Math.floor(i / rows)] ?? 0);
      return { name, shape: [columns, rows], values: turned };
    }
    case 'llama':
    case 'smollm3':
    case 'granite':
    case 'granitemoehybrid':
    case 'ministral3': {
      const part = /attn_([qk])\./.exec(name)?.[1];
      if (part === undefined) return tensor;
      const numHeads = Number(config[part === 'q' ? 'num_attention_heads' : 'num_key_value_heads']);
      return { name, shape, values: permuted(values, rows / numHeads, columns) };
    }
    case 'qwen3_5_text': {
      if (name.endsWith('ssm_a')) return { ...tensor, values: values.map((value) => -Math.exp(value)) };
      if (name.includes('ssm_conv1d')) return { ...tensor, shape: [rows, shape.at(-1) ?? 1] };
      const isOffset = name.endsWith('norm.weight') && !name.includes('ssm_norm');
      return isOffset ? { ...tensor, values: values.map((value) => value + 1) } : tensor;
    }
    case 'gemma3_text':
      return name.endsWith('norm.weight')
        ? { name, shape, values: values.map((value) => value + 1) }
        : tensor;
    case 'lfm2':
      return shape.length === 3 ? { name, shape: [rows, shape[2] ?? 1], values } : tensor;
    default:
      return tensor;
  }
}

/** `reshape(heads, 2, headSize / 2, columns).swapaxes(1, 2)` of llama.cpp's converter. */
function permuted(
  values: Float32Array<ArrayBuffer>,
  headSize: number,
  columns: number,
): Float32Array<ArrayBuffer> {
  const half = headSize / 2;
  return values.map((_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const [head, pair, side] = [Math.floor(row / headSize), Math.floor((row % headSize) / 2), row % 2];
    return values[(head * headSize + side * half + pair) * columns + column] ?? 0;
  });
}
