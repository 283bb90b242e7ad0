import { describe, expect, it } from 'vitest';

import type { Group } from './bench-case.ts';
import { besideEachOther } from './built-pages.ts';

function pageOf(name: string): { readonly name: string; readonly groups: readonly Group[] } {
  const subjects = ['off', 'continuous'].map((label) => ({
    labels: [label],
    measure: () => Promise.resolve({}),
  }));
  const column = { name: 'tokens/s', digits: 1, shows: 'p50' } as const;
  const ratio = { header: 'over off', column: 'tokens/s' };
  return { name, groups: [{ caption: 'Policies', labels: ['policy'], columns: [column], ratio, subjects }] };
}

describe('besideEachOther', () => {
  it('leaves one page as it is', () => {
    const page = pageOf('working tree');
    expect(besideEachOther([page])).toEqual(page.groups);
  });

  it('puts each row below that of the other commit, which it is compared with', () => {
    const [group] = besideEachOther([pageOf('0123456789'), pageOf('working tree')]);
    expect(group?.labels).toEqual(['policy', 'page']);
    expect(group?.ratio).toEqual({ header: 'over 0123456789', column: 'tokens/s' });
    expect(group?.subjects.map(({ labels }) => labels.join())).toEqual([
      'off,0123456789',
      'off,working tree',
      'continuous,0123456789',
      'continuous,working tree',
    ]);
    const [before, after] = group?.subjects ?? [];
    expect(before?.base).toBe('none');
    expect(after?.base).toBe(before);
  });
});
