import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientId, settle } from '../../batching/generation/test-support.ts';
import { openLink, openSoloLink } from './open-link.ts';
import {
  FakeLocks,
  FakeWorkerPort,
  RecordingLinkListener,
  createWorkerStatus,
} from '../../worker/test-support.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import { NO_PAST } from '../../protocol/recovery.ts';

const { BroadcastChannel: PlatformChannel } = globalThis;

afterEach(() => {
  globalThis.BroadcastChannel = PlatformChannel;
});

async function openTab(canLead = true) {
  const workers: FakeWorkerPort[] = [];
  const listener = new RecordingLinkListener();
  const createWorker = (): FakeWorkerPort => {
    const worker = new FakeWorkerPort();
    workers.push(worker);
    return worker;
  };
  const host = { createWorker, model: { type: 'embedded' }, dtype: 'auto', backend: 'auto' } as const;
  const link = openLink({ clientId: clientId('tab'), host, canLead }, listener);
  await settle();
  link.close();
  await settle();
  return { reason: link.isolationReason, init: workers[0]?.received[0] };
}

describe('openLink', () => {
  it('joins the worker of the site where the browser has all that it takes', async () => {
    const page = new EventTarget();
    vi.stubGlobal('navigator', { locks: new FakeLocks() });
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
    expect(await openTab()).toMatchObject({ reason: '', init: { isShared: true } });
  });

  it.each([
    ['Web Locks', { hasLocks: false, hasChannels: true }],
    ['BroadcastChannel', { hasLocks: true, hasChannels: false }],
    ['BroadcastChannel and no Web Locks', { hasLocks: false, hasChannels: false }],
  ])(
    'runs a worker for this tab alone, if it may lead, and says why, where there is no %s',
    async (what, has) => {
      vi.stubGlobal('navigator', has.hasLocks ? { locks: new FakeLocks() } : {});
      vi.stubGlobal('addEventListener', () => undefined);
      if (!has.hasChannels) Reflect.deleteProperty(globalThis, 'BroadcastChannel');
      await expect(openTab(false)).rejects.toMatchObject({
        code: 'CANNOT_FOLLOW',
        message: expect.stringContaining(`the browser offers no ${what} on this page`),
      });
      expect(await openTab()).toMatchObject({
        reason: `This tab runs its own worker: the browser offers no ${what} on this page.`,
        init: { isShared: false },
      });
    },
  );
});

const from = { version: PROTOCOL_VERSION, workerId: 'w' };
const SERVING = { ...from, type: 'serving' };
const READY = { ...from, type: 'status', status: createWorkerStatus({ state: 'ready' }) };

function createLink() {
  const workers: FakeWorkerPort[] = [];
  const listener = new RecordingLinkListener();
  const link = openSoloLink(
    {
      clientId: clientId('tab'),
      host: {
        createWorker() {
          const worker = new FakeWorkerPort();
          workers.push(worker);
          return worker;
        },
        model: { type: 'embedded' },
        dtype: 'auto',
        backend: 'auto',
      },
      page: new EventTarget(),
      reason: 'no Web Locks',
    },
    listener,
  );
  const failLast = (): void => workers.at(-1)?.fail('out of memory');
  return { link, listener, workers, failLast };
}

afterEach(() => void vi.useRealTimers());

describe('a solo link', () => {
  it('starts a worker for this tab alone, and says why', () => {
    const { link, workers } = createLink();
    expect(link.isolationReason).toBe('no Web Locks');
    expect(workers[0]?.received).toEqual([
      {
        version: PROTOCOL_VERSION,
        type: 'init',
        model: { type: 'embedded' },
        dtype: 'auto',
        backend: 'auto',
        isShared: false,
        past: NO_PAST,
        tabs: { tabs: [], leader: 'tab', last: 0 },
      },
    ]);
  });

  it('says nothing before the call has returned; then this tab leads, and is heard once its worker serves', async () => {
    const { listener, workers } = createLink();
    expect(listener.log).toEqual([]);
    await settle();
    expect(listener.log).toEqual(['leader']);
    workers[0]?.say(SERVING);
    expect(listener.log).toEqual(['leader', 'open']);
  });

  it('carries signed messages both ways, and drops anything that is not a worker message', async () => {
    const { link, listener, workers } = createLink();
    link.post({ type: 'metrics', callId: 1 });
    await settle();
    expect(workers[0]?.received.at(-1)).toEqual({
      version: PROTOCOL_VERSION,
      clientId: 'tab',
      type: 'metrics',
      callId: 1,
    });
    for (const data of ['noise', { ...READY, version: PROTOCOL_VERSION + 1 }, READY]) workers[0]?.say(data);
    expect(listener.messages).toEqual([READY]);
  });

  it('replaces a worker that fails; its tab is heard again by the next', async () => {
    const { link, listener, workers, failLast } = createLink();
    workers[0]?.say(SERVING);
    failLast();
    link.post({ type: 'metrics', callId: 1 });
    await settle();
    workers[1]?.say(SERVING);
    expect(workers[1]?.received).toMatchObject([{ type: 'init' }, { type: 'metrics' }]);
    expect(listener.log).toEqual(['open', 'leader', 'open']);
  });

  it('gives up after three workers that never came as far as a device', () => {
    vi.useFakeTimers();
    const { listener, failLast } = createLink();
    for (let failure = 0; failure < 3; failure++) {
      expect(listener.log).toEqual([]);
      failLast();
      vi.advanceTimersByTime(10_000);
    }
    expect(listener.log).toEqual(['failure: The worker failed (out of memory): reload the page.']);
  });

  it('keeps to itself what the worker tells it alone', () => {
    const { listener, workers } = createLink();
    workers[0]?.say({ version: PROTOCOL_VERSION, type: 'progress' });
    expect(listener.messages).toEqual([]);
  });

  it('ends its worker when it is closed', () => {
    const { link, workers, failLast } = createLink();
    link.close();
    failLast();
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
  });
});
