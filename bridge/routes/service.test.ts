import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';

import { NoModelError } from '../../src/protocol/errors/model.ts';
import { createModelInfo } from '../../src/worker/test-support.ts';
import type { BridgeOptions } from '../bridge.ts';
import { answerWith, mountBridge } from '../testing/test-support.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A bridge whose model is ready. */
async function mountModel(options: Partial<BridgeOptions> = {}) {
  const { bridge, url } = await mountBridge(options);
  const model = createModelInfo({ id: 'owner/model', contextLength: 512, hasChatTemplate: true });
  vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), state: 'ready', model });
  return url;
}

it('/v1/models has the model that serves, with its context as vLLM names it', async () => {
  const url = await mountModel();
  expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({
    object: 'list',
    data: [{ id: 'owner/model', object: 'model', max_model_len: 512, has_chat_template: true }],
  });
});

it('a server with an encoder alone lists it, by its name too, and refuses texts with 503 NO_MODEL', async () => {
  const { bridge, url } = await mountBridge();
  const backend = { name: 'wasm', precision: 'fp32', adapter: '', fallbackReason: '' } as const;
  const sizes = { numParameters: 1, maxTokens: 256, vocabSize: 9, dimensions: 3, prompts: [] };
  const encoder = { id: 'owner/bert', deployment: 'embedder', ...sizes, backend };
  const status = { ...bridge.serve.status(), state: 'ready' as const, encoders: [encoder] };
  vi.spyOn(bridge.serve, 'status').mockReturnValue(status);
  answerWith(bridge, () => ({ result: () => Promise.reject(NoModelError.of()) }));
  const listed = { id: 'owner/bert', max_model_len: 256, backend: 'wasm fp32' };
  expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ data: [listed] });
  expect(await (await fetch(`${url}/v1/models/owner/bert`)).json()).toMatchObject(listed);
  expect((await fetch(`${url}/v1/models/gpt-4`)).status).toBe(404);
  const asked = [
    ['/?text=Hi', undefined],
    ['/v1/completions', { prompt: 'Hi' }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['/v1/responses', { input: 'Hi' }],
    ['/tokenize', { prompt: 'Hi' }],
  ] as const;
  for (const [path, body] of asked) {
    const init = body && { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) };
    const response = await fetch(url + path, init);
    expect([path, response.status, await response.json()]).toMatchObject([
      path,
      503,
      { error: { code: 'NO_MODEL' } },
    ]);
  }
});

it('the list of models is at a path with a slash behind it, too', async () => {
  const url = await mountModel();
  const [plain, slashed] = [await fetch(`${url}/v1/models`), await fetch(`${url}/v1/models/`)];
  expect([slashed.status, await slashed.json()]).toEqual([200, await plain.json()]);
  expect((await fetch(`${url}/v1/models/owner/model/`)).status).toBe(200);
});

it('another model isn’t there, unless the operator lets every name mean the one that serves', async () => {
  const refused = await fetch(`${await mountModel()}/v1/models/gpt-4`);
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({
    error: {
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: expect.stringMatching(/`gpt-4` isn't loaded; `owner\/model` is\. .*--any-model/),
    },
  });
  const allowed = await fetch(`${await mountModel({ allowsAnyModel: true })}/v1/models/gpt-4`);
  expect(await allowed.json()).toMatchObject({ id: 'owner/model' });
});

it('/health is empty and 503 while nothing serves, as vLLM’s', async () => {
  const { url } = await mountBridge();
  const response = await fetch(`${url}/health`);
  expect([response.status, await response.text()]).toEqual([503, '']);
});

it('/-/healthz says why nothing serves', async () => {
  const { url } = await mountBridge();
  const response = await fetch(`${url}/-/healthz`);
  expect([response.status, await response.text()]).toEqual([503, 'No open tab is running the model.']);
});

it('/-/routes names what answers at each prefix, as Ray Serve’s', async () => {
  const { bridge, url } = await mountBridge();
  expect(await (await fetch(`${url}/-/routes`)).json()).toEqual({});
  const deployments = ['adder', 'my own', 'constructor'].map((name) => ({
    name,
    knobs: { maxBatchSize: 1, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1, maxQueuedRequests: 1 },
  }));
  vi.spyOn(bridge.serve, 'status').mockReturnValue({
    ...bridge.serve.status(),
    model: createModelInfo({ id: 'A' }),
    deployments,
  });
  expect(await (await fetch(`${url}/-/routes`)).json()).toEqual({
    '/': 'text-generator',
    '/adder': 'adder',
    '/deployments/my%20own': 'my own',
    '/deployments/constructor': 'constructor',
  });
});

it('/version is that of the package', async () => {
  const { url } = await mountBridge();
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await (await fetch(`${url}/version`)).json()).toEqual({ version });
});
