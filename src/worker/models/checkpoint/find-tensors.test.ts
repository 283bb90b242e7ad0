import { describe, expect, it } from 'vitest';
import type { ModelTensor } from '../program/model-config.ts';
import { memoryFile } from '../formats/checkpoint-files.ts';
import { findTensors } from './find-tensors.ts';
import { safetensorsFile } from '../../testing/safetensors-builder.ts';
import { readSafetensorsIndex } from '../formats/safetensors.ts';

const FUSED: ModelTensor = {
  name: 'attn.qkv.weight',
  shape: [8, 4],
  role: 'linear',
  sources: [
    { name: 'attn.q.weight', numRows: 4 },
    { name: 'attn.k.weight', numRows: 2 },
    { name: 'attn.v.weight', numRows: 2 },
  ],
};
const BIAS: ModelTensor = {
  name: 'attn.qk.bias',
  shape: [6],
  role: 'plain',
  sources: [
    { name: 'attn.q.bias', numRows: 4 },
    { name: 'attn.k.bias', numRows: 2 },
  ],
};

const FIRST = {
  'model.attn.k.weight': { dtype: 'F16', shape: [2, 4] },
  'model.attn.q.bias': { dtype: 'F32', shape: [4] },
  'model.attn.q.weight': { dtype: 'BF16', shape: [4, 4] },
} as const;
const SECOND = {
  'model.attn.v.weight': { dtype: 'F32', shape: [2, 4] },
  'model.attn.k.bias': { dtype: 'BF16', shape: [2] },
} as const;

describe('findTensors', () => {
  it('finds the parts of a tensor in their order, in several shards and dtypes', async () => {
    const found = await find(FIRST, SECOND);
    const parts = found
      .get('attn.qkv.weight')
      ?.map(({ name, file, dtype, shape }) => [name, file.name, dtype, shape]);
    expect(parts).toEqual([
      ['attn.q.weight', 'shard-0', 'BF16', [4, 4]],
      ['attn.k.weight', 'shard-0', 'F16', [2, 4]],
      ['attn.v.weight', 'shard-1', 'F32', [2, 4]],
    ]);
    expect(found.get('attn.qk.bias')?.map(({ shape }) => shape)).toEqual([[4], [2]]);
  });

  it.each([
    ['is missing, by its own name', {}, 'index.json is damaged: tensor attn.v.weight is missing'],
    [
      'has other rows than its share',
      { ...SECOND, 'model.attn.v.weight': { dtype: 'F32', shape: [4, 4] } as const },
      'tensor attn.v.weight has shape [4, 4], but config.json asks for [2, 4]',
    ],
    [
      'is stored as no weight is',
      { ...SECOND, 'model.attn.v.weight': { dtype: 'U8', shape: [2, 4] } as const },
      'tensor attn.v.weight is stored as U8',
    ],
  ])('refuses a tensor of which a part %s', async (_, second, message) => {
    await expect(find(FIRST, second)).rejects.toThrow(message);
  });
});

async function find(...shards: readonly Parameters<typeof safetensorsFile>[0][]) {
  const indexed = shards.map(async (tensors, i) => {
    const file = memoryFile(`shard-${i}`, safetensorsFile(tensors));
    return { file, tensors: await readSafetensorsIndex(file) };
  });
  const output = { name: '', width: 0, per: 'token' } as const;
  const model = { program: { ops: [], states: [], weights: [FUSED, BIAS], output }, tensorPrefix: 'model.' };
  return findTensors(await Promise.all(indexed), model, 'index.json');
}
