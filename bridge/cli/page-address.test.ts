import { expect, it } from 'vitest';

import { pageAddress } from './page-address.ts';

it('the page reads its backend and its model from its address', () => {
  expect(pageAddress('http://a', {})).toBe('http://a');
  expect(pageAddress('http://a', { backend: 'wasm', model: 'owner/name', dtype: 'q8' })).toBe(
    'http://a/?backend=wasm&model=owner/name&dtype=q8',
  );
  expect(pageAddress('http://a', { embedder: 'owner/bert', reranker: 'owner/cross' })).toBe(
    'http://a/?embedder=owner/bert&reranker=owner/cross',
  );
});
