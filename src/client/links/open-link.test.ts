import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientId, settle } from '../../batching/generation/test-support.ts';
import { openLink } from './open-link.ts';
import { FakeLocks, FakeWorkerPort, RecordingLinkListener } from '../../worker/test-support.ts';

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
