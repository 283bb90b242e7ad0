import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientId, settle } from '../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import { FakeLocks, workerId } from '../test-support.ts';
import { BridgedOutbox, TabChannels } from './tab-messages.ts';
import { namesOf } from '../../protocol/names.ts';

const [TAB, BRIDGE] = [clientId('tab'), clientId('bridge')];

function sign(message: Unsigned<WorkerMessage>): WorkerMessage {
  return { version: PROTOCOL_VERSION, workerId: workerId('w'), ...message };
}

it('tells each client what is its own, and the bridge as well what all tabs hear', () => {
  const log: string[] = [];
  const outbox = new BridgedOutbox({
    toAll: ({ type }) => log.push(`all: ${type}`),
    toClient: (id, { type }) => log.push(`${id}: ${type}`),
  });
  outbox.toClient(BRIDGE, sign({ type: 'updates', updates: [] }));
  outbox.bridge = {
    clientId: BRIDGE,
    send: ({ type }) => log.push(`over the bridge: ${type}`),
  };
  outbox.toAll(sign({ type: 'serving' }));
  outbox.toClient(TAB, sign({ type: 'updates', updates: [] }));
  outbox.toClient(BRIDGE, sign({ type: 'updates', updates: [] }));
  expect(log).toEqual([
    'bridge: updates',
    'all: serving',
    'over the bridge: serving',
    'tab: updates',
    'over the bridge: updates',
  ]);
});

const { clientName, sharedChannel: SHARED_CHANNEL } = namesOf();
const [A, B, HOST] = [clientId('a'), clientId('b'), clientId('host')];
const opened: BroadcastChannel[] = [];

function open(name: string): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  opened.push(channel);
  return channel;
}

/** The messages on a channel, by the number of the call that they answer. */
function listen(name: string): unknown[] {
  const heard: unknown[] = [];
  open(name).addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => heard.push(callOf(data)));
  return heard;
}

function callOf(said: WorkerMessage): unknown {
  return said.type === 'call-answered' ? said.callId : said;
}

function answer(callId: number, result: unknown = null): WorkerMessage {
  return { version: PROTOCOL_VERSION, workerId: workerId('w'), type: 'call-answered', callId, result };
}

afterEach(() => {
  for (const channel of opened.splice(0)) channel.close();
});

function createTabs() {
  const locks = new FakeLocks();
  const log: string[] = [];
  const port: unknown[] = [];
  const host = { clientId: HOST, post: (said: WorkerMessage) => port.push(callOf(said)) };
  const tabs: TabChannels = new TabChannels(open(SHARED_CHANNEL), host, locks, namesOf(), {
    onJoined: (id) => log.push(`${id} joined`),
    onGone: (id) => log.push(`${id} gone`),
  });
  return { locks, log, port, tabs };
}

describe('TabChannels', () => {
  it('reach all tabs over the shared channel, and one tab alone over its own', async () => {
    const { locks, tabs } = createTabs();
    const [shared, a, b] = [listen(SHARED_CHANNEL), listen(clientName(A)), listen(clientName(B))];
    const leave = [locks.hold(clientName(A)), locks.hold(clientName(B))];
    tabs.meet(A);
    tabs.meet(B);
    tabs.toClient(A, answer(1));
    tabs.toAll(answer(2));
    tabs.toClient(B, answer(3));
    await vi.waitFor(() => expect([shared, a, b]).toEqual([[2], [1], [3]]));
    for (const end of leave) end();
    await settle();
  });

  it('reach the tab that made the worker over its port alone, in order', async () => {
    const { locks, port, tabs } = createTabs();
    const [shared, own] = [listen(SHARED_CHANNEL), listen(clientName(HOST))];
    const leave = locks.hold(clientName(HOST));
    tabs.meet(HOST);
    tabs.toClient(HOST, answer(1));
    tabs.toAll(answer(2));
    tabs.toClient(HOST, answer(3));
    expect(port).toEqual([1, 2, 3]);
    open(clientName(HOST)).postMessage(answer(4));
    open(SHARED_CHANNEL).postMessage(answer(5));
    await vi.waitFor(() => expect([shared, own]).toEqual([[5], [4]]));
    leave();
    await settle();
  });

  it('tell tabs that they have not met of the worker, and nothing else', async () => {
    const { port, tabs } = createTabs();
    const shared = listen(SHARED_CHANNEL);
    const serving = { version: PROTOCOL_VERSION, workerId: workerId('w'), type: 'serving' } as const;
    tabs.toAll(answer(1));
    tabs.toAll(serving);
    await vi.waitFor(() => expect(shared).toEqual([serving]));
    expect(port).toEqual([1, serving]);
  });

  it('have nothing for a tab that is gone, or that they have not met', async () => {
    const { locks, tabs } = createTabs();
    const leave = locks.hold(clientName(A));
    const a = listen(clientName(A));
    tabs.toClient(A, answer(1));
    tabs.meet(A);
    tabs.toClient(A, answer(2));
    leave();
    await settle();
    tabs.toClient(A, answer(3));
    open(clientName(A)).postMessage(answer(4));
    await vi.waitFor(() => expect(a.at(-1)).toBe(4));
    expect(a).toEqual([2, 4]);
  });

  it('throw at what cannot be cloned', async () => {
    const { tabs } = createTabs();
    tabs.meet(A);
    const uncloneable = answer(1, () => 3);
    expect(() => tabs.toClient(A, uncloneable)).toThrow(expect.objectContaining({ name: 'DataCloneError' }));
    await settle();
  });

  it('take in each tab once, at its first message', async () => {
    const { locks, log, tabs } = createTabs();
    const leave = [locks.hold(clientName(A)), locks.hold(clientName(B))];
    for (const id of [A, B, A]) tabs.meet(id);
    await settle();
    tabs.meet(B);
    expect(log).toEqual(['a joined', 'b joined']);
    for (const end of leave) end();
    await settle();
  });

  it('notice that a tab is gone by its lock, and leave the others', async () => {
    const { locks, log, tabs } = createTabs();
    const leave = [locks.hold(clientName(A)), locks.hold(clientName(B))];
    tabs.meet(A);
    tabs.meet(B);
    leave[0]?.();
    await settle();
    expect(log.slice(2)).toEqual(['a gone']);
    leave[1]?.();
    await settle();
  });

  it('let a tab go at once that was gone before its message came', async () => {
    const { log, tabs } = createTabs();
    tabs.meet(A);
    await settle();
    expect(log).toEqual(['a joined', 'a gone']);
  });

  it('hold no lock of a tab that is gone, and take it in again should it come back', async () => {
    const { locks, log, tabs } = createTabs();
    tabs.meet(A);
    await settle();
    expect(locks.names).toEqual([]);
    const leave = locks.hold(clientName(A));
    tabs.meet(A);
    await settle();
    expect(log.slice(2)).toEqual(['a joined']);
    leave();
    await settle();
  });
});
