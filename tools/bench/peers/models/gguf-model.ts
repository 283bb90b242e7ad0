import { toFloat16 } from '../../../../src/worker/models/checkpoint/float-formats.ts';
import { quantizeRows } from '../../../../src/worker/models/checkpoint/quantize.ts';
import type { ModelConfig } from '../../../../src/worker/models/model-config.ts';
import type { Checkpoint, TokenizerJson, Weight } from './checkpoint.ts';
import type { GgufTensor, GgufType, GgufValue } from './gguf.ts';

/** `LLAMA_FTYPE_*` of llama.cpp. */
const FILE_TYPE: Readonly<Record<GgufType, number>> = { f32: 0, f16: 1, q4_0: 2 };
/** `LLAMA_TOKEN_TYPE_*` of llama.cpp. */
const TOKEN_TYPE = { normal: 1, control: 3 } as const;

const BLOCK_SIZE = 32;
const HALF_BLOCK = BLOCK_SIZE / 2;
/** An fp16 scale, then the values, two in a byte. */
const BLOCK_BYTES = 2 + HALF_BLOCK;

/** The metadata that llama.cpp needs of any model: its architecture, the type of its matrices, and its byte-level BPE. */
export function generalMetadata(
  architecture: string,
  { config, tokenizer }: Checkpoint<ModelConfig>,
  type: GgufType,
): Record<string, GgufValue> {
  const tokens = tokensById(tokenizer);
  const special = new Set(tokenizer.added_tokens.filter((token) => token.special).map(({ id }) => id));
  const endOfText: GgufValue = { type: 'uint32', value: config.eosTokenIds[0] ?? tokens.length - 1 };
  return {
    'general.architecture': { type: 'string', value: architecture },
    'general.file_type': { type: 'uint32', value: FILE_TYPE[type] },
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: 'gpt-2' },
    'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
    'tokenizer.ggml.token_type': {
      type: 'int32s',
      value: tokens.map((_, id) => (special.has(id) ? TOKEN_TYPE.control : TOKEN_TYPE.normal)),
    },
    'tokenizer.ggml.merges': { type: 'strings', value: tokenizer.model.merges },
    'tokenizer.ggml.bos_token_id': endOfText,
    'tokenizer.ggml.eos_token_id': endOfText,
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: false },
  };
}

/** Encodes a matrix [out, in] as `type`. Vectors stay in float32, as in llama.cpp's own converter. */
export function ggufTensor(name: string, { shape, values }: Weight, type: GgufType): GgufTensor {
  if (type === 'f32' || shape.length < 2) return { name, shape, type: 'f32', data: bytesOf(values) };
  if (type === 'f16') return { name, shape, type, data: bytesOf(toFloat16(values)) };
  return { name, shape, type, data: quantizeBlocks({ shape, values }) };
}

/**
 * Encodes the integers of our own q4 in the order of `Q4_0`: value j of a block in the lower half of byte j, value j + 16 in the
 * upper.
 */
function quantizeBlocks({ shape, values }: Weight): Uint8Array {
  const [numRows = 0, length = 0] = shape;
  const matrix = { values, numRows, length, rowStride: length, stride: 1 };
  const { values: codes, scales } = quantizeRows(matrix, 4);
  const scaleBytes = bytesOf(toFloat16(scales));
  const blocks = new Uint8Array(scales.length * BLOCK_BYTES);
  for (let block = 0; block < scales.length; block++) {
    const at = block * BLOCK_BYTES;
    blocks.set(scaleBytes.subarray(2 * block, 2 * block + 2), at);
    const codeOf = (index: number): number =>
      ((codes[block * HALF_BLOCK + (index >> 1)] ?? 0) >> (4 * (index & 1))) & 15;
    for (let j = 0; j < HALF_BLOCK; j++) blocks[at + 2 + j] = codeOf(j) | (codeOf(j + HALF_BLOCK) << 4);
  }
  return blocks;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function tokensById({ model }: TokenizerJson): string[] {
  return Object.entries(model.vocab)
    .toSorted(([, a], [, b]) => a - b)
    .map(([token]) => token);
}
