import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientId } from '../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION } from '../protocol/wire.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { clientName, SHARED_CHANNEL } from '../protocol/names.ts';
import { ChannelOutbox, PortOutbox } from './outbox.ts';
import { workerId } from '../test-support.ts';

const [A, B] = [clientId('a'), clientId('b')];
const opened: BroadcastChannel[] = [];

function open(name: string): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  opened.push(channel);
  return channel;
}

/** What arrives on a channel, by the number of the call that it answers. */
function listen(name: string): unknown[] {
  const heard: unknown[] = [];
  open(name).addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) =>
    heard.push(data.type === 'call-answered' ? data.callId : data),
  );
  return heard;
}

function message(callId: number, result: unknown = null): WorkerMessage {
  return { version: PROTOCOL_VERSION, workerId: workerId('w'), type: 'call-answered', callId, result };
}

afterEach(() => {
  for (const channel of opened.splice(0)) channel.close();
});

describe('ChannelOutbox', () => {
  it('reaches all tabs over the shared channel, and one tab alone over its own', async () => {
    const outbox = new ChannelOutbox(open(SHARED_CHANNEL));
    const [shared, a, b] = [listen(SHARED_CHANNEL), listen(clientName(A)), listen(clientName(B))];
    outbox.open(A);
    outbox.open(B);
    outbox.toClient(A, message(1));
    outbox.toAll(message(2));
    outbox.toClient(B, message(3));
    await vi.waitFor(() => expect([shared, a, b]).toEqual([[2], [1], [3]]));
    outbox.close(A);
    outbox.close(B);
  });

  it('has nothing for a tab that is gone, or that it has not met', async () => {
    const outbox = new ChannelOutbox(open(SHARED_CHANNEL));
    const a = listen(clientName(A));
    outbox.toClient(A, message(1));
    outbox.open(A);
    outbox.toClient(A, message(2));
    outbox.close(A);
    outbox.close(A);
    outbox.toClient(A, message(3));
    open(clientName(A)).postMessage(message(4));
    await vi.waitFor(() => expect(a.at(-1)).toBe(4));
    expect(a).toEqual([2, 4]);
  });

  it('throws at what cannot be cloned', () => {
    const outbox = new ChannelOutbox(open(SHARED_CHANNEL));
    outbox.open(A);
    expect(() =>
      outbox.toClient(
        A,
        message(1, () => 3),
      ),
    ).toThrow(expect.objectContaining({ name: 'DataCloneError' }));
    outbox.close(A);
  });
});

describe('PortOutbox', () => {
  it('reaches its only tab, whoever is meant', () => {
    const sent: WorkerMessage[] = [];
    const outbox = new PortOutbox({ postMessage: (posted) => sent.push(posted) });
    outbox.toAll(message(1));
    outbox.toClient(A, message(2));
    expect(sent).toEqual([message(1), message(2)]);
  });
});
