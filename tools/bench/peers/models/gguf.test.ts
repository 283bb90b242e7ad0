import { describe, expect, it } from 'vitest';

import { readCheckpoint, STORYTELLER, transpose, weightOf } from './checkpoint.ts';
import { encodeGguf, GGUF_ALIGNMENT } from './gguf.ts';
import { readGguf } from './gguf-reader.ts';
import { encodeGpt2Gguf } from './gpt2-gguf.ts';

describe('encodeGguf', () => {
  it('keeps every type of metadata', () => {
    const metadata = {
      'a.uint32': { type: 'uint32', value: 0xffffffff },
      'an.int32': { type: 'int32', value: -7 },
      'a.float32': { type: 'float32', value: 0.5 },
      'a.bool': { type: 'bool', value: true },
      'a.string': { type: 'string', value: 'Ġzwölf' },
      strings: { type: 'strings', value: ['Ġ', '', 'é'] },
      int32s: { type: 'int32s', value: [1, -3] },
    } as const;
    const read = readGguf(encodeGguf(metadata, []));
    expect(read.version).toBe(3);
    expect(read.metadata).toEqual(new Map(Object.entries(metadata).map(([key, { value }]) => [key, value])));
  });

  it('aligns each tensor, and lists its dimensions from the fastest to the slowest', () => {
    const tensors = [
      { name: 'odd', shape: [3], type: 'f32', data: bytesOf(1, 2, 3) },
      { name: 'matrix', shape: [2, 3], type: 'f32', data: bytesOf(4, 5, 6, 7, 8, 9) },
      { name: 'last', shape: [1], type: 'f32', data: bytesOf(10) },
    ] as const;
    const read = readGguf(
      encodeGguf({ key: { type: 'string', value: 'moves the data off its alignment' } }, tensors),
    );
    expect(read.tensors.map(({ name, dims }) => ({ name, dims }))).toEqual([
      { name: 'odd', dims: [3] },
      { name: 'matrix', dims: [3, 2] },
      { name: 'last', dims: [1] },
    ]);
    expect(read.tensors.map(({ begin }) => begin % GGUF_ALIGNMENT)).toEqual([0, 0, 0]);
    expect(read.tensors.map(({ values }) => [...values])).toEqual([[1, 2, 3], [4, 5, 6, 7, 8, 9], [10]]);
    expect(read.numBytes % GGUF_ALIGNMENT).toBe(0);
  });
});

const checkpoint = await readCheckpoint(STORYTELLER);

describe('encodeGpt2Gguf', () => {
  const { metadata, tensors } = readGguf(encodeGpt2Gguf(checkpoint, 'f32'));
  const tensorOf = (name: string) => tensors.find((tensor) => tensor.name === name);

  it('says what llama.cpp needs to know of the model and its tokenizer', () => {
    expect(Object.fromEntries(metadata)).toMatchObject({
      'general.architecture': 'gpt2',
      'gpt2.block_count': 4,
      'gpt2.context_length': 512,
      'gpt2.embedding_length': 128,
      'gpt2.feed_forward_length': 512,
      'gpt2.attention.head_count': 4,
      'tokenizer.ggml.model': 'gpt2',
      'tokenizer.ggml.pre': 'gpt-2',
      'tokenizer.ggml.eos_token_id': 2047,
      'tokenizer.ggml.add_bos_token': false,
    });
    const { vocab, merges } = checkpoint.tokenizer.model;
    const tokens = metadata.get('tokenizer.ggml.tokens');
    expect(tokens).toHaveLength(2048);
    expect(tokens).toEqual(Object.keys(vocab).toSorted((a, b) => (vocab[a] ?? 0) - (vocab[b] ?? 0)));
    expect(metadata.get('tokenizer.ggml.merges')).toEqual(merges);
  });

  it('holds every weight of the checkpoint once, linear ones as [out, in]', () => {
    expect(tensors).toHaveLength(checkpoint.weights.size);
    const expansion = tensorOf('blk.1.ffn_up.weight');
    expect(expansion?.dims).toEqual([128, 512]);
    expect(
      numDifferences(expansion?.values, transpose(weightOf(checkpoint, 'h.1.mlp.c_fc.weight')).values),
    ).toBe(0);
    expect(tensorOf('token_embd.weight')?.dims).toEqual([128, 2048]);
    const { values } = weightOf(checkpoint, 'wte.weight');
    expect(numDifferences(tensorOf('token_embd.weight')?.values, values)).toBe(0);
  });
});

/** A count, because the difference of two large arrays takes minutes to print. */
function numDifferences(actual: Float32Array | undefined, expected: Float32Array): number {
  return expected.filter((value, index) => actual?.[index] !== value).length;
}

function bytesOf(...values: number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}
