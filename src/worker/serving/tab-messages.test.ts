import { expect, it } from 'vitest';
import { clientId } from '../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import { workerId } from '../test-support.ts';
import { BridgedOutbox } from './tab-messages.ts';

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
