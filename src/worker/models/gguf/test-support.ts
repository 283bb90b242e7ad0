import { ggufFile, type GgufTensor, type MetadataValue } from '../../testing/gguf-builder.ts';
import { memoryFile } from '../formats/checkpoint-files.ts';
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import { ggufFiles } from './gguf-files.ts';

/** Test support: GGUF files of one layer, 16 wide. */

type Metadata = Readonly<Record<string, MetadataValue>>;

const FILE = 'model.gguf';

const WIDTH = 16;
const TOKENS = ['<s>', 'a', 'b', 'ab', '</s>'];

/** What a file has at least, below its architecture. */
const FIELDS: Metadata = {
  context_length: 64,
  embedding_length: WIDTH,
  block_count: 1,
  feed_forward_length: WIDTH,
  'attention.head_count': 1,
  'attention.layer_norm_rms_epsilon': 1e-5,
};

const TOKENIZER: Metadata = {
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'gpt-2',
  'tokenizer.ggml.tokens': TOKENS,
  'tokenizer.ggml.token_type': [3, 1, 1, 1, 3],
  'tokenizer.ggml.merges': ['a b'],
  'tokenizer.ggml.eos_token_id': 4,
};

const LAYER = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down'];
const NORMS = ['attn_norm', 'ffn_norm'];
/** Architectures with a norm of each head. */
const HEAD_NORMS = ['attn_q_norm', 'attn_k_norm'];

const MORE: Readonly<
  Record<string, { readonly norms?: readonly string[]; readonly biases?: readonly string[] }>
> = {
  qwen2: { biases: ['attn_q', 'attn_k', 'attn_v'] },
  qwen3: { norms: HEAD_NORMS },
  gemma3: { norms: [...HEAD_NORMS, 'post_attention_norm', 'post_ffw_norm'] },
};

export function tensor(name: string, ...shape: readonly number[]): GgufTensor {
  return { name, shape, values: new Float32Array(shape.reduce((size, length) => size * length, 1)) };
}

interface Change {
  readonly architecture?: string;
  /** Below the architecture. */
  readonly fields?: Readonly<Record<string, MetadataValue | undefined>>;
  /** Whole keys. */
  readonly metadata?: Readonly<Record<string, MetadataValue | undefined>>;
  readonly tensors?: readonly GgufTensor[];
}

export function tinyGguf({ architecture = 'llama', fields, metadata, tensors = [] }: Change): Uint8Array {
  const { norms = [], biases = [] } = MORE[architecture] ?? {};
  const all: readonly (readonly [string, MetadataValue | undefined])[] = [
    ['general.architecture', architecture],
    ...Object.entries({ ...FIELDS, ...fields }).map(
      ([key, value]) => [`${architecture}.${key}`, value] as const,
    ),
    ...Object.entries({ ...TOKENIZER, ...metadata }),
  ];
  const given = new Map(all.filter((entry): entry is [string, MetadataValue] => entry[1] !== undefined));
  return ggufFile(Object.fromEntries(given), [
    tensor('token_embd.weight', TOKENS.length, WIDTH),
    tensor('output_norm.weight', WIDTH),
    ...[...NORMS, ...norms].map((name) => tensor(`blk.0.${name}.weight`, WIDTH)),
    ...LAYER.map((name) => tensor(`blk.0.${name}.weight`, WIDTH, WIDTH)),
    ...biases.map((name) => tensor(`blk.0.${name}.bias`, WIDTH)),
    ...tensors,
  ]);
}

function sourceOf(bytes: Uint8Array) {
  const file = memoryFile(FILE, bytes);
  return ggufFiles({ open: () => Promise.resolve(file) }, FILE);
}

/** The file as a load reads it, up to its weights. */
export async function openGguf(bytes: Uint8Array) {
  return openCheckpoint(await sourceOf(bytes));
}

/** The `config.json` of a file, whatever its tensors are. */
export async function configFileOf(change: Change): Promise<unknown> {
  const file = await (await sourceOf(tinyGguf(change))).open('config.json');
  return file && JSON.parse(new TextDecoder().decode(await file.read(0, file.size)));
}

export const openTiny = (change: Change = {}) => openGguf(tinyGguf(change));
