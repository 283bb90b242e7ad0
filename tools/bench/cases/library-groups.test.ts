import { describe, expect, it } from 'vitest';

import type { RecordedGroup } from '../record.ts';
import { wrongRows } from './library-groups.ts';

function groupOf(row: Partial<RecordedGroup['rows'][number]>): readonly RecordedGroup[] {
  const rows = [{ labels: ['Tabserve', 'CPU, 1 thread, fp32'], figures: {}, ...row }];
  return [{ caption: 'Eight at once', labels: ['', 'runs on'], columns: [], rows }];
}

function withShare(labels: readonly string[], share: number): readonly RecordedGroup[] {
  return groupOf({ labels, figures: { 'tokens as PyTorch': { count: 8, mean: share } } });
}

describe('wrongRows', () => {
  it('wants all of our tokens in fp32, and a share of the others', () => {
    expect(wrongRows(withShare(['Tabserve', 'a GPU, fp32'], 0.99), 0.4)).toHaveLength(1);
    expect(wrongRows(withShare(['Tabserve', 'a GPU, fp16'], 0.99), 0.4)).toEqual([]);
    expect(wrongRows(withShare(['wllama', 'a GPU'], 0.3), 0.4)).toHaveLength(1);
  });

  it('tells that a library could not be loaded', () => {
    expect(wrongRows(groupOf({ missing: 'no model' }))).toEqual([
      'Eight at once: Tabserve, CPU, 1 thread, fp32: no model',
    ]);
  });

  it('takes a failure in a case, and what is left out, as results', () => {
    expect(wrongRows(groupOf({ missing: 'failed: out of memory' }))).toEqual([]);
    expect(wrongRows(groupOf({ missing: 'a list of one is one by one' }))).toEqual([]);
  });
});
