import { expect, it, onTestFinished, vi } from 'vitest';
import { NO_PAST } from '../protocol/recovery.ts';
import { PROTOCOL_VERSION } from '../protocol/wire.ts';
import { createTabNumbers } from './test-support.ts';

/** A worker's global scope, and what it posts. */
async function createScope() {
  const posted: unknown[] = [];
  const scope = Object.assign(new EventTarget(), {
    name: '',
    location: { href: 'https://host/worker.js' },
    postMessage: (message: unknown) => void posted.push(message),
  });
  vi.stubGlobal('self', scope);
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.resetModules();
  const { startWorkerWith } = await import('./start-worker.ts');
  return {
    posted,
    start: (options?: object): void => startWorkerWith({}, options),
    init: (): void => {
      const init = { model: { type: 'none' }, dtype: 'auto', backend: 'wasm', isShared: false };
      const data = {
        version: PROTOCOL_VERSION,
        type: 'init',
        ...init,
        past: NO_PAST,
        tabs: createTabNumbers('tab'),
      };
      scope.dispatchEvent(new MessageEvent('message', { data }));
    },
  };
}

it('tells all tabs by name what is wrong with its options, and the host that it runs', async () => {
  const { start, init, posted } = await createScope();
  start({ deployment: [] });
  init();
  await vi.waitFor(() => expect(posted).toContainEqual(expect.objectContaining({ type: 'ready' })));
  const error = expect.objectContaining({ code: 'UNKNOWN_OPTION', param: 'deployment' });
  const status = expect.objectContaining({ state: 'failed', error });
  expect(posted).toContainEqual(expect.objectContaining({ type: 'status', status }));
});

it('starts once', async () => {
  const { start } = await createScope();
  start();
  expect(start).toThrow(/startWorker\(\) was called twice/);
});
