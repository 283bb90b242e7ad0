import { describe, expect, it } from 'vitest';

import { clientId } from '../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION, type Unsigned, type WorkerMessage } from '../protocol.ts';
import { createWorkerStatus, workerId } from '../tabs/test-support.ts';
import { BridgedOutbox } from './bridged-outbox.ts';

const [TAB, BRIDGE] = [clientId('tab'), clientId('bridge')];

function sign(message: Unsigned<WorkerMessage>): WorkerMessage {
  return { version: PROTOCOL_VERSION, workerId: workerId('w'), ...message };
}

function createOutbox() {
  const log: string[] = [];
  const outbox = new BridgedOutbox({
    toAll: ({ type }) => log.push(`all: ${type}`),
    toClient: (id, { type }) => log.push(`${id}: ${type}`),
  });
  outbox.openBridge(BRIDGE, ({ type }) => log.push(`over the bridge: ${type}`));
  return { outbox, log };
}

describe('BridgedOutbox', () => {
  it('tells the bridge what concerns it, and the tabs all', () => {
    const { outbox, log } = createOutbox();
    outbox.toAll(sign({ type: 'status', status: createWorkerStatus() }));
    outbox.toAll(sign({ type: 'activity', activity: [] }));
    outbox.toClient(TAB, sign({ type: 'updates', updates: [] }));
    outbox.toClient(BRIDGE, sign({ type: 'updates', updates: [] }));
    expect(log).toEqual([
      'all: status',
      'over the bridge: status',
      'all: activity',
      'tab: updates',
      'over the bridge: updates',
    ]);
  });

  it('has nothing more for a bridge that is gone, and gives it to nobody else', () => {
    const { outbox, log } = createOutbox();
    outbox.closeBridge();
    outbox.toAll(sign({ type: 'serving' }));
    outbox.toClient(BRIDGE, sign({ type: 'updates', updates: [] }));
    expect(log).toEqual(['all: serving']);
  });
});
