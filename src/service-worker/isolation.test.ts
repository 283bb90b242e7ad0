import { expect, test } from 'vitest';

import { withIsolation } from './isolation.ts';

test('an isolated response keeps its body, status and type', async () => {
  const headers = { 'Content-Type': 'application/wasm', 'Cross-Origin-Embedder-Policy': 'unsafe-none' };
  const isolated = withIsolation(new Response('body', { status: 203, statusText: 'As is', headers }));
  expect(isolated).toMatchObject({ status: 203, statusText: 'As is' });
  expect(await isolated.text()).toBe('body');
  expect(Object.fromEntries(isolated.headers)).toEqual({
    'content-type': 'application/wasm',
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
});

test('a failed response passes as it is', () => {
  const failed = Response.error();
  expect(withIsolation(failed)).toBe(failed);
});
