import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientId, settle } from '../../batching/generation/test-support.ts';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { Link } from './link.ts';
import { parseClientMessages } from '../../protocol/client-messages.ts';
import { ALIVE, ASK, namesOf } from '../../protocol/names.ts';
import { NO_PAST } from '../../protocol/recovery.ts';
import { SharedLink } from './shared-link.ts';
import {
  createWorkerStatus,
  FakeLocks,
  FakeWorkerPort,
  RecordingLinkListener,
} from '../../worker/test-support.ts';

const {
  clientName,
  leaderLock: LEADER_LOCK,
  sharedChannel: SHARED_CHANNEL,
  livenessChannel: LIVENESS_CHANNEL,
  versionLock,
  workerLock: WORKER_LOCK,
} = namesOf();

const from = { version: PROTOCOL_VERSION, workerId: 'w' };
const SERVING = { ...from, type: 'serving' };
const READY = { ...from, type: 'status', status: createWorkerStatus({ state: 'ready' }) };

const links: Link[] = [];
const channels: BroadcastChannel[] = [];

function openChannel(name = SHARED_CHANNEL): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  channels.push(channel);
  return channel;
}

function openTab(name: string, locks: FakeLocks, canLead = true) {
  const workers: FakeWorkerPort[] = [];
  const listener = new RecordingLinkListener();
  const page = new EventTarget();
  const clock = new FakeClock();
  const id = clientId(name);
  const link = new SharedLink(
    {
      clientId: id,
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
      locks,
      page,
      canLead,
      clock,
    },
    listener,
  );
  links.push(link);
  const fire = (type: string) => page.dispatchEvent(new Event(type));
  const failLast = (): void => workers.at(-1)?.fail('out of memory');
  return { id, link, listener, workers, page, clock, fire, failLast, locks };
}

/** Waits until a tab has heard all that was posted before. */
async function hear(
  { listener, id, locks }: ReturnType<typeof openTab>,
  channel: BroadcastChannel,
): Promise<void> {
  const numHeard = listener.messages.length;
  const release = locks.hold(WORKER_LOCK, `fence of ${id}`);
  channel.postMessage({ ...SERVING, workerId: `fence of ${id}` });
  await vi.waitFor(() => expect(listener.messages.slice(numHeard).at(-1)?.workerId).toBe(`fence of ${id}`));
  listener.messages.pop();
  release();
}

/** A tab that led until it heard a worker of a newer version. */
async function meetNewer() {
  const locks = new FakeLocks();
  const tab = openTab('a', locks);
  await settle();
  const end = locks.hold(versionLock(PROTOCOL_VERSION + 1));
  const shared = openChannel();
  shared.postMessage({ ...SERVING, version: PROTOCOL_VERSION + 1, type: 'dance' });
  await hear(tab, shared);
  await settle();
  return { end, shared, ...tab };
}

afterEach(async () => {
  vi.useRealTimers();
  for (const link of links.splice(0)) link.close();
  for (const channel of channels.splice(0)) channel.close();
  await settle();
});

describe('a shared link', () => {
  it('speaks only under the lock that tells the worker of this tab’s life', async () => {
    const locks = new FakeLocks();
    const heldAtOpen: boolean[] = [];
    const { id, listener } = openTab('a', locks);
    vi.spyOn(listener, 'onOpen').mockImplementation(() => heldAtOpen.push(locks.isHeld(clientName(id))));
    expect(heldAtOpen).toEqual([]);
    await settle();
    expect(heldAtOpen).toEqual([true]);
    expect(locks.isHeld(clientName(id))).toBe(true);
  });

  it('makes the first tab the leader, whose worker serves all; the others follow', async () => {
    const locks = new FakeLocks();
    const [a, b] = [openTab('a', locks), openTab('b', locks)];
    await settle();
    expect([a.listener.log, b.listener.log]).toEqual([['open', 'leader'], ['open']]);
    expect(a.workers.map(({ received }) => received)).toEqual([
      [
        {
          version: PROTOCOL_VERSION,
          type: 'init',
          model: { type: 'embedded' },
          dtype: 'auto',
          backend: 'auto',
          isShared: true,
          lifeLock: expect.stringMatching(/^tabserve:worker:/),
          past: NO_PAST,
          tabs: { tabs: [], leader: 'tab', last: 0 },
        },
      ],
    ]);
    expect(b.workers).toEqual([]);
    expect(a.link.isolationReason).toBe('');
  });

  it('lets the next tab lead when the leader closes, whose worker ends first', async () => {
    const locks = new FakeLocks();
    const [a, b] = [openTab('a', locks), openTab('b', locks)];
    await settle();
    a.link.close();
    expect(a.workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    expect(b.workers).toEqual([]);
    await settle();
    expect(b.listener.log).toEqual(['open', 'leader']);
    expect(b.workers).toHaveLength(1);
  });

  it('leads in no tab that may not: it follows, and sees the leader go and another come', async () => {
    const locks = new FakeLocks();
    const popup = openTab('popup', locks, false);
    await vi.waitFor(() => expect(popup.listener.log).toEqual(['open', 'no leader']));
    popup.listener.log.splice(0);
    const look = async (): Promise<string[]> => {
      popup.clock.advance(1000);
      await settle();
      return popup.listener.log.splice(0);
    };
    const first = openTab('a', locks);
    await settle();
    expect(await look()).toEqual(['led']);
    expect(await look()).toEqual([]);
    first.link.close();
    await settle();
    popup.fire('resume');
    expect(await look()).toEqual(['no leader']);
    expect(locks.names).toEqual([clientName(popup.id)]);
    openTab('b', locks);
    await settle();
    expect(await look()).toEqual(['led']);
    expect(popup.workers).toEqual([]);
    popup.link.close();
    expect(await look()).toEqual([]);
    expect(popup.clock.pendingTimers).toBe(0);
  });

  it('tells a tab that may not lead of a newer worker, which it doesn’t wait for', async () => {
    const locks = new FakeLocks();
    const popup = openTab('popup', locks, false);
    await settle();
    locks.hold(versionLock(PROTOCOL_VERSION + 1));
    const shared = openChannel();
    shared.postMessage({ ...SERVING, version: PROTOCOL_VERSION + 1, type: 'dance' });
    await hear(popup, shared);
    await settle();
    expect(popup.listener.log).toEqual(['open', 'no leader', `foreign ${PROTOCOL_VERSION + 1}`]);
    expect(locks.queueLength(versionLock(PROTOCOL_VERSION + 1))).toBe(1);
  });

  it('carries messages over the channels, signed', async () => {
    const { id, link, listener, locks } = openTab('a', new FakeLocks());
    locks.hold(WORKER_LOCK, SERVING.workerId);
    const [shared, own] = [openChannel(), openChannel(clientName(id))];
    const heard: unknown[] = [];
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => heard.push(data));
    link.post({ type: 'metrics', callId: 1 });
    shared.postMessage(SERVING);
    await vi.waitFor(() => expect(listener.messages).toEqual([SERVING]));
    own.postMessage(READY);
    await vi.waitFor(() => expect(listener.messages).toEqual([SERVING, READY]));
    await vi.waitFor(() =>
      expect(heard).toEqual([{ version: PROTOCOL_VERSION, clientId: id, type: 'metrics', callId: 1 }]),
    );
  });

  it('speaks with its own worker over its port from a hello on, and hears once what the worker tells all', async () => {
    const tab = openTab('a', new FakeLocks());
    const { id, link, listener, locks, workers } = tab;
    await settle();
    const release = locks.hold(WORKER_LOCK, SERVING.workerId);
    const shared = openChannel();
    const heard: unknown[] = [];
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => heard.push(data));
    const signed = { version: PROTOCOL_VERSION, clientId: id };
    workers[0]?.say(SERVING);
    await settle();
    link.post({ type: 'metrics', callId: 1 });
    link.post({ type: 'hello' });
    link.post({ type: 'metrics', callId: 2 });
    await settle();
    expect(workers[0]?.received.slice(1)).toEqual([
      { ...signed, type: 'hello' },
      { ...signed, type: 'metrics', callId: 2 },
    ]);
    workers[0]?.say(READY);
    shared.postMessage(SERVING);
    shared.postMessage(READY);
    await vi.waitFor(() => expect(heard).toEqual([{ ...signed, type: 'metrics', callId: 1 }]));
    release();
    await hear(tab, shared);
    expect(listener.messages).toEqual([SERVING, READY]);
  });

  it('speaks with the next worker over the channel once its own is gone', async () => {
    const { id, link, listener, locks, workers, fire } = openTab('a', new FakeLocks());
    await settle();
    const release = locks.hold(WORKER_LOCK, SERVING.workerId);
    workers[0]?.say(SERVING);
    await settle();
    link.post({ type: 'hello' });
    fire('freeze');
    release();
    locks.hold(WORKER_LOCK, 'next');
    const shared = openChannel();
    const heard: unknown[] = [];
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => heard.push(data));
    shared.postMessage({ ...SERVING, workerId: 'next' });
    await vi.waitFor(() => expect(listener.messages).toHaveLength(2));
    link.post({ type: 'hello' });
    await vi.waitFor(() =>
      expect(heard).toEqual([{ version: PROTOCOL_VERSION, clientId: id, type: 'hello' }]),
    );
    expect(workers[0]?.received).toHaveLength(2);
  });

  it('sends what is posted in one turn as one message, so that it comes together', async () => {
    const { id, link } = openTab('a', new FakeLocks());
    await settle();
    const shared = openChannel();
    const heard: unknown[] = [];
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => heard.push(data));
    for (const callId of [1, 2, 3]) link.post({ type: 'metrics', callId });
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(parseClientMessages(heard[0])).toEqual(
      [1, 2, 3].map((callId) => ({ version: PROTOCOL_VERSION, clientId: id, type: 'metrics', callId })),
    );
  });

  it('drops what no worker says', async () => {
    const tab = openTab('a', new FakeLocks());
    await settle();
    const shared = openChannel();
    const other = { version: PROTOCOL_VERSION, clientId: 'b', type: 'metrics', callId: 1 };
    for (const data of ['noise', null, other, { ...SERVING, type: 'dance' }]) shared.postMessage(data);
    await hear(tab, shared);
    expect(tab.listener.messages).toEqual([]);
    expect(tab.listener.log).toEqual(['open', 'leader']);
  });

  it('replaces a worker that fails', async () => {
    const { workers, failLast } = openTab('a', new FakeLocks());
    await settle();
    failLast();
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
  });

  it('gives the lead up after three workers that never came as far as a device: the next tab may do better', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const locks = new FakeLocks();
    const [a, b] = [openTab('a', locks), openTab('b', locks)];
    await settle();
    for (let failure = 0; failure < 3; failure++) {
      a.failLast();
      vi.advanceTimersByTime(10_000);
    }
    await settle();
    expect(a.listener.log.slice(2)).toEqual([
      'follower',
      'failure: The worker failed (out of memory): reload the page.',
    ]);
    expect(b.listener.log).toEqual(['open', 'leader']);
    expect(a.workers).toHaveLength(3);
  });
});

describe('a suspended page', () => {
  it.each([
    ['freeze', 'resume'],
    ['pagehide', 'pageshow'],
  ])('(%s) does not lead, but lives on; taken out (%s) it queues again', async (away, back) => {
    const locks = new FakeLocks();
    const [a, b] = [openTab('a', locks), openTab('b', locks)];
    await settle();
    a.fire(away);
    await settle();
    expect(a.listener.log.slice(2)).toEqual(['suspended', 'follower']);
    expect(a.workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    expect(b.listener.log).toEqual(['open', 'leader']);
    expect(locks.isHeld(clientName(a.id))).toBe(true);
    a.fire(back);
    b.fire(away);
    await settle();
    expect(a.listener.log.slice(4)).toEqual(['leader']);
    expect(a.workers).toHaveLength(2);
  });

  it('leaves the queue, too, and is passed by', async () => {
    const locks = new FakeLocks();
    const [a, b, c] = [openTab('a', locks), openTab('b', locks), openTab('c', locks)];
    await settle();
    b.fire('freeze');
    a.link.close();
    await settle();
    expect(b.workers).toEqual([]);
    expect(c.listener.log).toEqual(['open', 'leader']);
  });
});

describe('close()', () => {
  it('leaves nothing behind: no lock, no worker, no channel, no ear for the page', async () => {
    const locks = new FakeLocks();
    const { link, listener, workers, fire } = openTab('a', locks);
    await settle();
    link.close();
    for (const type of ['freeze', 'resume', 'pagehide', 'pageshow']) fire(type);
    await settle();
    expect(locks.names).toEqual([]);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    expect(listener.log).toEqual(['open', 'leader', 'follower']);
  });

  it('comes after what was posted before it in the same turn', async () => {
    const { id, link } = openTab('a', new FakeLocks());
    await settle();
    const shared = openChannel();
    const heard: unknown[] = [];
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => heard.push(data));
    link.post({ type: 'metrics', callId: 1 });
    link.close();
    await vi.waitFor(() =>
      expect(heard).toEqual([{ version: PROTOCOL_VERSION, clientId: id, type: 'metrics', callId: 1 }]),
    );
  });

  it('leaves nothing behind where it comes before the link is there', async () => {
    const locks = new FakeLocks();
    const { link, listener, workers } = openTab('a', locks);
    link.close();
    await settle();
    expect(listener.log).toEqual([]);
    expect(workers).toEqual([]);
    expect(locks.names).toEqual([]);
  });
});

describe('a worker of another version', () => {
  it('that is newer ends the lead of this tab', async () => {
    const { locks, listener, workers } = await meetNewer();
    expect(listener.log.slice(2)).toEqual(['follower', `foreign ${PROTOCOL_VERSION + 1}`]);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    expect(locks.isHeld(LEADER_LOCK)).toBe(false);
  });

  it('that is newer and serves keeps this tab from leading, even after it is suspended and resumed', async () => {
    const { locks, fire } = await meetNewer();
    for (const type of ['pagehide', 'pageshow', 'freeze', 'resume']) fire(type);
    await settle();
    expect(locks.isHeld(LEADER_LOCK)).toBe(false);
  });

  it.each([1, 2, 1_000_000])('(%i ahead) that holds no lock is a lie: this tab leads on', async (ahead) => {
    const tab = openTab('a', new FakeLocks());
    await settle();
    const shared = openChannel();
    shared.postMessage({ ...SERVING, version: PROTOCOL_VERSION + ahead });
    await hear(tab, shared);
    await settle();
    expect(tab.listener.log).toEqual(['open', 'leader']);
    expect(tab.workers.map(({ isTerminated }) => isTerminated)).toEqual([false]);
  });

  it('that is older is a lie while a worker of this version serves', async () => {
    const locks = new FakeLocks();
    locks.hold(versionLock(PROTOCOL_VERSION));
    const tab = openTab('a', locks);
    await settle();
    const shared = openChannel();
    shared.postMessage({ ...SERVING, version: PROTOCOL_VERSION - 1 });
    await hear(tab, shared);
    await settle();
    expect(tab.listener.log).toEqual(['open', 'leader']);
  });

  it('that is newer gives this tab the lead back once it has been gone for as long as a reload takes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { locks, listener, workers, end } = await meetNewer();
    end();
    await settle();
    const endReloaded = locks.hold(versionLock(PROTOCOL_VERSION + 1));
    vi.advanceTimersByTime(10_000);
    await settle();
    expect(locks.isHeld(LEADER_LOCK), 'it was only reloaded').toBe(false);
    endReloaded();
    await settle();
    vi.advanceTimersByTime(10_000);
    await settle();
    expect(listener.log.at(-1)).toBe('leader');
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
  });

  it('that is newer, and heard before this tab may speak, is not queued behind either', async () => {
    const locks = new FakeLocks();
    const release = locks.hold(clientName(clientId('a')));
    locks.hold(versionLock(PROTOCOL_VERSION + 1));
    const tab = openTab('a', locks);
    const shared = openChannel();
    shared.postMessage({ ...SERVING, version: PROTOCOL_VERSION + 1 });
    await hear(tab, shared);
    release();
    await settle();
    expect(tab.listener.log).toEqual([`foreign ${PROTOCOL_VERSION + 1}`, 'open']);
    expect(tab.workers).toEqual([]);
  });

  it('that is older is outlived: this tab stays in the queue', async () => {
    const locks = new FakeLocks();
    const release = locks.hold(LEADER_LOCK);
    const tab = openTab('a', locks);
    await settle();
    const shared = openChannel();
    shared.postMessage({ ...SERVING, version: PROTOCOL_VERSION - 1 });
    await hear(tab, shared);
    expect(tab.listener.log).toEqual(['open', `foreign ${PROTOCOL_VERSION - 1}`]);
    release();
    await settle();
    expect(tab.listener.log.at(-1)).toBe('leader');
  });
});

/** Resolves when a message has reached all that listen to a channel by now. */
function nextMessage(channelName: string): Promise<unknown> {
  const channel = openChannel(channelName);
  return new Promise((resolve) => channel.addEventListener('message', resolve, { once: true }));
}

/** A tab that follows one whose process is stopped, and waits for an answer. */
async function followSuspended(canLead = true) {
  const locks = new FakeLocks();
  locks.hold(LEADER_LOCK, 'suspended page');
  locks.hold(WORKER_LOCK, 'suspended worker');
  const tab = openTab('a', locks, canLead);
  const liveness = openChannel(LIVENESS_CHANNEL);
  const asks: unknown[] = [];
  liveness.addEventListener('message', ({ data }: MessageEvent<unknown>) => asks.push(data));
  await settle();
  tab.listener.patienceMs = 3000;
  tab.link.post({ type: 'metrics', callId: 1 });
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      tab.clock.advance(1000);
      await settle();
    }
  };
  return { ...tab, liveness, asks, pass };
}

describe('a tab whose leader says nothing', () => {
  it('asks, then takes over the lead and the lock of the worker', async () => {
    const { listener, workers, locks, asks, pass } = await followSuspended();
    await pass(2);
    await vi.waitFor(() => expect(asks).toEqual([ASK, ASK]));
    expect(workers).toEqual([]);
    await pass(1);
    expect(listener.log.at(-1)).toBe('leader');
    expect(workers).toHaveLength(1);
    expect(locks.isHeld(LEADER_LOCK)).toBe(true);
    expect(locks.isHeld(WORKER_LOCK)).toBe(false);
  });

  it('follows on where the leader answers, whose page or worker may be busy', async () => {
    const { listener, workers, liveness, asks, pass } = await followSuspended();
    for (let second = 1; second < 9; second += 1) {
      await pass(1);
      // Every other second is silent: this one after an answer is not.
      if (second % 2 === 0) continue;
      await vi.waitFor(() => expect(asks.splice(0)).toEqual([ASK]));
      const heard = nextMessage(LIVENESS_CHANNEL);
      liveness.postMessage(ALIVE);
      await heard;
    }
    expect(workers).toEqual([]);
    expect(listener.log).toEqual(['open']);
  });

  it('follows on while it waits for nothing', async () => {
    const { listener, workers, clock, pass } = await followSuspended();
    listener.patienceMs = undefined;
    await pass(20);
    expect(workers).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes over for a tab that may not lead', async () => {
    const popup = await followSuspended(false);
    const tab = openTab('b', popup.locks);
    await settle();
    popup.clock.advance(1000);
    await vi.waitFor(() => expect(tab.clock.pendingTimers).toBe(1));
    for (let second = 0; second < 10; second += 1) {
      tab.clock.advance(1000);
      await settle();
    }
    expect(tab.listener.log.at(-1)).toBe('leader');
    expect(popup.workers).toEqual([]);
  });

  it('takes nothing from a tab of another version, which can’t answer', async () => {
    const { locks, workers, pass } = await followSuspended();
    locks.hold(versionLock(PROTOCOL_VERSION - 1));
    await pass(10);
    expect(workers).toEqual([]);
  });

  it('takes nothing from a tab that has taken over since it asked', async () => {
    const { locks, workers, pass } = await followSuspended();
    await pass(2);
    void locks.request(LEADER_LOCK, { steal: true }, () => new Promise<never>(() => {}));
    await pass(1);
    expect(workers).toEqual([]);
  });
});

describe('a leader that wakes after another tab took over', () => {
  it('ends its worker, follows, and queues again', async () => {
    const locks = new FakeLocks();
    const { listener, workers } = openTab('a', locks);
    await settle();
    const { promise, resolve } = Promise.withResolvers<void>();
    void locks.request(LEADER_LOCK, { steal: true }, () => promise);
    await settle();
    expect(listener.log.slice(2)).toEqual(['follower']);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    resolve();
    await settle();
    expect(listener.log.at(-1)).toBe('leader');
  });

  it('hears nothing of a worker that has lost the lock', async () => {
    const locks = new FakeLocks();
    const { listener } = openTab('a', locks);
    const shared = openChannel();
    locks.hold(WORKER_LOCK, 'w');
    shared.postMessage(SERVING);
    await vi.waitFor(() => expect(listener.messages).toEqual([SERVING]));
    void locks.request(WORKER_LOCK, { steal: true }, () => new Promise<never>(() => {}));
    const next = { ...SERVING, workerId: 'other' };
    shared.postMessage(next);
    await vi.waitFor(() => expect(listener.messages).toEqual([SERVING, next]));
    shared.postMessage(READY);
    shared.postMessage({ ...READY, workerId: 'other' });
    await vi.waitFor(() => expect(listener.messages).toHaveLength(3));
    expect(listener.messages.at(-1)?.workerId).toBe('other');
  });

  it('answers an ask only while it leads', async () => {
    const locks = new FakeLocks();
    openTab('a', locks);
    await settle();
    const liveness = openChannel(LIVENESS_CHANNEL);
    const heard: unknown[] = [];
    liveness.addEventListener('message', ({ data }: MessageEvent<unknown>) => heard.push(data));
    liveness.postMessage(ASK);
    await vi.waitFor(() => expect(heard).toEqual([ALIVE]));
    void locks.request(LEADER_LOCK, { steal: true }, () => new Promise<never>(() => {}));
    await settle();
    const asked = nextMessage(LIVENESS_CHANNEL);
    liveness.postMessage(ASK);
    await asked;
    await settle();
    expect(heard).toEqual([ALIVE]);
  });
});
