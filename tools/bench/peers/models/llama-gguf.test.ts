import { describe, expect, it } from 'vitest';

import { readLlamaConfig } from '../../../../src/worker/models/llama/config.ts';
import { readCheckpointAs, weightOf, type Weight } from './checkpoint.ts';
import { readGguf } from './gguf-reader.ts';
import { encodeLlamaGguf } from './llama-gguf.ts';
import { writeDecoder } from './test-support.ts';

const SMOLLM2 = 'generated/smollm2';
const checkpoint = {
  ...(await readCheckpointAs(writeDecoder(SMOLLM2), (config) => readLlamaConfig(config, undefined))),
  ropeTheta: 100_000,
};
const { numHeads, numKvHeads, headSize, width } = checkpoint.config;

describe('encodeLlamaGguf', () => {
  const { metadata, tensors } = readGguf(encodeLlamaGguf(checkpoint, 'f32'));
  const valuesOf = (name: string): Float32Array => find(tensors, name);

  it('says how many heads share keys and values, and how they are rotated', () => {
    expect(Object.fromEntries(metadata)).toMatchObject({
      'general.architecture': 'llama',
      'llama.attention.head_count': numHeads,
      'llama.attention.head_count_kv': numKvHeads,
      'llama.rope.dimension_count': headSize,
      'llama.rope.freq_base': 100_000,
    });
  });

  it('puts the two rows that are rotated together side by side, and leaves values as they are', () => {
    const qkv = weightOf(checkpoint, 'layers.1.self_attn.qkv_proj.weight');
    const [query, key, value] = ['q', 'k', 'v'].map((part) => valuesOf(`blk.1.attn_${part}.weight`));
    const [numQueries, numKeys] = [numHeads * headSize, numKvHeads * headSize];
    // The second head's first row, then its middle row.
    expect(rowOf(query, headSize)).toEqual(rowOf(qkv.values, headSize));
    expect(rowOf(query, headSize + 1)).toEqual(rowOf(qkv.values, headSize + headSize / 2));
    expect(rowOf(key, 1)).toEqual(rowOf(qkv.values, numQueries + headSize / 2));
    expect(rowOf(key, 2)).toEqual(rowOf(qkv.values, numQueries + 1));
    expect(rowOf(value, 1)).toEqual(rowOf(qkv.values, numQueries + numKeys + 1));
  });

  it('keeps vectors in float32 and every weight of a matrix within a step of its block in q4_0', () => {
    const quantized = readGguf(encodeLlamaGguf(checkpoint, 'q4_0')).tensors;
    const norm = weightOf(checkpoint, 'layers.0.input_layernorm.weight');
    expect(find(quantized, 'blk.0.attn_norm.weight')).toEqual(norm.values);
    const down = weightOf(checkpoint, 'layers.0.mlp.down_proj.weight');
    expect(worstStep(down, find(quantized, 'blk.0.ffn_down.weight'))).toBeLessThan(1.1);
  });

  it('rounds every weight of a matrix to fp16', () => {
    const rounded = readGguf(encodeLlamaGguf(checkpoint, 'f16')).tensors;
    const { values } = weightOf(checkpoint, 'layers.0.mlp.down_proj.weight');
    expect(find(rounded, 'blk.0.ffn_down.weight')).toEqual(values.map((value) => Math.f16round(value)));
  });
});

function find(
  tensors: readonly { readonly name: string; readonly values: Float32Array }[],
  name: string,
): Float32Array {
  const tensor = tensors.find((candidate) => candidate.name === name);
  if (!tensor) throw new Error(`There is no tensor ${name}.`);
  return tensor.values;
}

function rowOf(values: Float32Array | undefined, row: number): number[] {
  return [...(values?.subarray(row * width, (row + 1) * width) ?? [])];
}

/** The largest error in quantization steps. A step is an eighth of the largest weight of a block. */
function worstStep({ values }: Weight, actual: Float32Array): number {
  const errors = Array.from(values, (value, index) => {
    const block = values.subarray(32 * Math.floor(index / 32), 32 * Math.floor(index / 32) + 32);
    const step = Math.max(...block.map(Math.abs)) / 8;
    return Math.abs(value - (actual[index] ?? NaN)) / step;
  });
  return Math.max(...errors);
}
