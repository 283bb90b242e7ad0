import { expect, it, vi } from 'vitest';

import { DEFAULT_POLICY } from '../../src/protocol/status.ts';
import { mountBridge } from '../testing/test-support.ts';

/** A bridge whose worker takes every knob. */
async function mountAdmin(allowsAdmin: boolean) {
  const { bridge, url, port } = await mountBridge({
    allowsAdmin,
    allowedOrigins: ['https://friend.example'],
  });
  const configure = vi.spyOn(bridge.serve, 'configure');
  configure.mockImplementation((_name: string, knobs: object) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mock has the type of another overload
    Promise.resolve({ ...DEFAULT_POLICY, ...knobs } as never),
  );
  const patch = (knobs: object, headers: Record<string, string> = {}) =>
    fetch(`${url}/policy`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(knobs),
    });
  return { url, port, configure, patch };
}

it('changes the knobs that are given, and answers with all of them; null is no limit', async () => {
  const { url, patch, configure } = await mountAdmin(true);
  const response = await patch({ maxBatchSize: 4, maxQueuedRequests: null });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    ...DEFAULT_POLICY,
    maxBatchSize: 4,
    maxQueuedRequests: null,
    kvCacheMemoryBytes: null,
  });
  expect(configure).toHaveBeenLastCalledWith('text-generator', {
    maxBatchSize: 4,
    maxQueuedRequests: Infinity,
  });
  expect(await (await fetch(`${url}/policy`)).json()).toMatchObject({ maxBatchSize: 8 });
  expect(configure).toHaveBeenLastCalledWith('text-generator', {});
});

it('is refused unless the operator allows it, and says how', async () => {
  const { url, patch, configure } = await mountAdmin(false);
  for (const response of [await patch({ maxBatchSize: 4 }), await fetch(`${url}/policy`)]) {
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { code: 'ADMIN_NOT_ALLOWED', message: expect.stringContaining('--allow-admin') },
    });
  }
  expect(configure).not.toHaveBeenCalled();
});

it.each([
  ['a page that may ask for texts', { Origin: 'https://friend.example' }],
  ['a client of a proxy on this machine', { 'X-Forwarded-For': '192.168.1.7' }],
  ['one that the proxy names otherwise', { 'X-Real-IP': '192.168.1.7' }],
  ['one of a proxy that names itself', { Via: '1.1 proxy' }],
])('is refused to %s', async (_, headers) => {
  const { patch, configure } = await mountAdmin(true);
  expect((await patch({ maxBatchSize: 4 }, headers)).status).toBe(403);
  expect(configure).not.toHaveBeenCalled();
});
