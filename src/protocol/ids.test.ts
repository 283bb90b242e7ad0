import { afterEach, expect, it, vi } from 'vitest';

import { createClientId, createRequestId, createWorkerId } from './ids.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('makes ids on an origin that is not secure, each another one', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const ids = [createClientId(), createRequestId(), createRequestId(), createWorkerId()];
  for (const id of ids) expect(id).toMatch(/^[\da-f]{32}$/);
  expect(new Set(ids).size).toBe(4);
});
