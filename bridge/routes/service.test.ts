import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';

import { mountBridge } from '../test-support.ts';

it('/health is empty and 503 while nothing serves, as vLLM’s', async () => {
  const { url } = await mountBridge();
  const response = await fetch(`${url}/health`);
  expect([response.status, await response.text()]).toEqual([503, '']);
});

it('/-/healthz says why nothing serves', async () => {
  const { url } = await mountBridge();
  const response = await fetch(`${url}/-/healthz`);
  expect([response.status, await response.text()]).toEqual([503, 'No tab serves.']);
});

it('/-/routes names what answers at each prefix, as Ray Serve’s', async () => {
  const { bridge, url } = await mountBridge();
  const known = { '/': 'text-generator', '/adder': 'adder', '/house-price': 'house-price' };
  expect(await (await fetch(`${url}/-/routes`)).json()).toEqual(known);
  const deployments = ['adder', 'my own'].map((name) => ({
    name,
    knobs: { maxBatchSize: 1, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1, maxQueuedRequests: 1 },
  }));
  vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), deployments });
  expect(await (await fetch(`${url}/-/routes`)).json()).toEqual({
    ...known,
    '/deployments/my%20own': 'my own',
  });
});

it('/version is that of the package', async () => {
  const { url } = await mountBridge();
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await (await fetch(`${url}/version`)).json()).toEqual({ version });
});
