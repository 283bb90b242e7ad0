import { expect, it } from 'vitest';
import { fromWireError } from '../../src/protocol/wire-errors.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';
import { NoTabError } from './no-tab-error.ts';
import { TabLink } from './tab-link.ts';
import { createModelInfo } from '../../src/worker/test-support.ts';
import { servedModel } from './served-model.ts';

/** The client of a bridge that has lost its tab; `status` overrides fields of its last status. */
function createServer(change: Partial<TabserveStatus>) {
  const { serve } = new TabLink({ url: () => '', graceMs: 0 });
  const status = { ...serve.status(), ...change };
  serve.close();
  const ready = Promise.withResolvers<TabserveStatus>();
  return { serve: { status: () => status, ready: () => ready.promise }, status, ready };
}

const model = createModelInfo({ id: 'storyteller' });

it('is the one of the status while it is ready', async () => {
  const { serve } = createServer({ state: 'ready', model });
  expect(await servedModel(serve, AbortSignal.any([]))).toBe(model);
});

it('is none after the last tab is gone, though the last status names one', async () => {
  const { serve, ready } = createServer({ state: 'failed', model });
  ready.reject(NoTabError.at('http://localhost:8000'));
  await expect(servedModel(serve, AbortSignal.any([]))).rejects.toMatchObject({ code: 'NO_TAB' });
});

it('is waited for while the tab that takes over loads, and for no longer than its caller does', async () => {
  const { serve, status, ready } = createServer({ state: 'loading', model });
  const controller = new AbortController();
  const left = servedModel(serve, controller.signal);
  const patient = servedModel(serve, AbortSignal.any([]));
  controller.abort(fromWireError({ code: 'CLOSED', message: 'gone' }));
  await expect(left).rejects.toThrow('gone');
  ready.resolve({ ...status, state: 'ready' });
  expect(await patient).toBe(model);
});
