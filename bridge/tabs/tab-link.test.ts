import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { fromWireText, toWireText } from '../../src/protocol/wire-text.ts';
import type { BatchingPolicy, TabserveStatus } from '../../src/protocol/status.ts';
import type { WorkerMessage } from '../../src/protocol/worker-messages.ts';
import { ServeWorker } from '../../src/worker/serving/serve-worker.ts';
import { parseClientMessage } from '../../src/protocol/client-messages.ts';
import { asClientId } from '../../src/protocol/ids.ts';
import { createModelInfo, createServeHost } from '../../src/worker/test-support.ts';
import type { TabOwner } from './own-browser.ts';
import { servedModel, TabLink } from './tab-link.ts';
import { fromWireError } from '../../src/protocol/wire-errors.ts';
import { NoTabError } from './no-tab-error.ts';

// The link with real workers, on sockets of this process.

const links: TabLink[] = [];

afterEach(() => {
  for (const link of links.splice(0)) link.serve.close();
});

function createLink(knobs: Partial<BatchingPolicy> = {}): TabLink {
  const link = new TabLink({ url: () => 'http://localhost:8000', graceMs: 10_000, knobs });
  links.push(link);
  return link;
}

/** Opens a fresh worker's socket to the link. A worker that crashes early hears nothing of the link. */
function openTab(link: TabLink, owner: TabOwner, { isEarly = false } = {}) {
  let isSuspended = false;
  const events = new EventEmitter();
  const say = (message: WorkerMessage): void => {
    const data = Buffer.from(toWireText(message));
    queueMicrotask(() => events.emit('message', data, false));
  };
  const worker = new ServeWorker(
    [],
    { toAll: say, toClient: (_, message) => say(message) },
    createServeHost(),
  );
  const close = (): void => void events.emit('close');
  const socket = {
    on: events.on.bind(events),
    send(text: string) {
      const message = parseClientMessage(fromWireText(text));
      if (message && !isEarly && !isSuspended) worker.receive(message);
    },
    terminate: close,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part of a WebSocket that the link uses
  link.attach(socket as unknown as WebSocket, owner);
  return { close, report: () => worker.openTab(asClientId('tab')), suspend: () => (isSuspended = true) };
}

/** The policy in force in the worker that serves. */
async function policyOf({ serve }: TabLink): Promise<BatchingPolicy> {
  // Its answer comes after its welcome.
  await serve.metrics();
  return serve.status().policy;
}

it.each<TabOwner>(['user', 'bridge'])(
  'brings the policy of one browser to no worker of another: the next one belongs to the %s',
  async (owner) => {
    const link = createLink();
    const first = openTab(link, 'user');
    await link.serve.configure('text-generator', { policy: 'off', batchWaitTimeoutMs: 10 });
    first.close();
    openTab(link, owner);
    expect(await policyOf(link)).toMatchObject({ policy: 'continuous', batchWaitTimeoutMs: 0 });
  },
);

it('goes on with the next tab where the first one is suspended, and waits for it where there is no other', async () => {
  vi.useFakeTimers();
  const link = createLink();
  const first = openTab(link, 'user');
  await link.serve.configure('text-generator', { maxBatchSize: 3 });
  first.suspend();
  const policy = policyOf(link);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(link.isServed).toBe(true);
  openTab(link, 'user');
  await vi.advanceTimersByTimeAsync(15_000);
  expect((await policy).maxBatchSize).toBe(8);
  vi.useRealTimers();
});

it('does not let the higher revision of a browser that left win over a later change', async () => {
  const link = createLink();
  const first = openTab(link, 'user');
  for (const maxBatchSize of [1, 2, 3]) await link.serve.configure('text-generator', { maxBatchSize });
  openTab(link, 'user');
  first.close();
  await link.serve.configure('text-generator', { batchWaitTimeoutMs: 5 });
  expect(await policyOf(link)).toMatchObject({ maxBatchSize: 8, batchWaitTimeoutMs: 5 });
});

it('brings its own browser the policy from before the crash, whoever served in between', async () => {
  const link = createLink();
  const crashing = openTab(link, 'bridge');
  await link.serve.configure('text-generator', { policy: 'static' });
  const visitor = openTab(link, 'user');
  crashing.close();
  expect((await policyOf(link)).policy).toBe('continuous');
  await link.serve.configure('text-generator', { policy: 'off' });
  openTab(link, 'bridge');
  visitor.close();
  expect((await policyOf(link)).policy).toBe('static');
});

it.each<TabOwner>(['user', 'bridge'])(
  'each page of the %s begins with the knobs of the command line, until somebody turns them',
  async (owner) => {
    const link = createLink({ maxBatchSize: 4 });
    for (let opened = 0; opened < 2; opened += 1) {
      const tab = openTab(link, owner);
      expect(await policyOf(link)).toMatchObject({ maxBatchSize: 4, policy: 'continuous' });
      tab.close();
    }
    const turned = openTab(link, owner);
    await link.serve.configure('text-generator', { maxBatchSize: 2 });
    turned.close();
    openTab(link, owner);
    expect((await policyOf(link)).maxBatchSize).toBe(owner === 'bridge' ? 2 : 4);
  },
);

it('a browser that crashed before it had the knobs does not reset them', async () => {
  const link = createLink({ maxBatchSize: 4 });
  const crashing = openTab(link, 'bridge', { isEarly: true });
  crashing.report();
  await Promise.resolve();
  crashing.close();
  openTab(link, 'bridge');
  expect((await policyOf(link)).maxBatchSize).toBe(4);
});

it.each([
  [false, /open tab.* or start Tabserve with --headless\.$/],
  [
    true,
    /the page that --headless has opened isn't connected\. Try again .* open http:\/\/localhost:8000 in a/,
  ],
])(
  'a missing tab is told with what can be done, where the server opens one itself (%j)',
  async (isHeadless, message) => {
    const { serve } = new TabLink({ url: () => 'http://localhost:8000', graceMs: 0, isHeadless });
    await expect(serve.ready()).rejects.toMatchObject({
      code: 'NO_TAB',
      message: expect.stringMatching(message),
    });
    serve.close();
  },
);

/** The client of a bridge that has lost its tab; `status` overrides fields of its last status. */
function createServer(change: Partial<TabserveStatus>) {
  const { serve } = new TabLink({ url: () => '', graceMs: 0 });
  const status = { ...serve.status(), ...change };
  serve.close();
  const ready = Promise.withResolvers<TabserveStatus>();
  return { serve: { status: () => status, ready: () => ready.promise }, status, ready };
}

const model = createModelInfo({ id: 'storyteller' });

describe('the model that generates', () => {
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
});
