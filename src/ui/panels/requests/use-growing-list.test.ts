import { expect, it } from 'vitest';

import { withSomeNew } from './use-growing-list.ts';

it('lists so many new items at a time, in their order, until it has all', () => {
  const items = ['a', 'b', 'c', 'd', 'e', 'f'];
  const first = withSomeNew(['a'], items, 2);
  expect(first).toEqual(['a', 'b', 'c']);
  const second = withSomeNew(first, items, 2);
  expect(second).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(withSomeNew(second, items, 2), 'the same list: nothing is left to do').toBe(items);
});

it('removes items at once, however many are new', () => {
  expect(withSomeNew(['a', 'b', 'c'], ['c', 'd', 'e', 'f'], 2)).toEqual(['c', 'd', 'e']);
  expect(withSomeNew(['a', 'b', 'c'], ['b'], 2)).toEqual(['b']);
  expect(withSomeNew(['a'], [], 2)).toEqual([]);
});
