import { describe, expect, it } from 'vitest';
import { batchFrom, type Resolve } from './batch.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import type { ClientId, RequestId } from '../base/ids.ts';
import { settled } from './test-support.ts';
import { TurnQueue } from './turn-queue.ts';

interface Item {
  readonly id: RequestId;
  readonly clientId: ClientId;
}

function createItem(name: string): Item {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ids of a test
  return { id: name as RequestId, clientId: name.slice(0, 1) as ClientId };
}

function createBatcher(batchSizeFn?: (items: readonly Item[]) => number) {
  const clock = new FakeClock();
  const queue = new TurnQueue<Item, Resolve<string>>(1);
  const runs: string[] = [];
  const handler = async (items: readonly Item[]) => {
    runs.push(items.map(({ id }) => id).join());
    return items.map(({ id }) => id);
  };
  const options = { maxBatchSize: 3, batchWaitTimeoutMs: 10, clock, ...(batchSizeFn && { batchSizeFn }) };
  const call = batchFrom(queue, handler, options);
  const cancels = new Map<string, AbortController>();
  const submit = (...names: readonly string[]): void => {
    for (const name of names) {
      const controller = new AbortController();
      cancels.set(name, controller);
      call(createItem(name), controller).catch(() => {});
    }
  };
  return { clock, call, queue, runs, submit, cancels };
}

describe('TurnQueue', () => {
  it('lets the clients of a full queue take turns', async () => {
    const { runs, submit, call } = createBatcher();
    submit('a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'c0', 'b1');
    void call.close();
    await settled();
    expect(runs).toEqual(['a0,a1,a2', 'a3,b0,c0', 'a4,b1']);
  });

  it('waits from the arrival of the oldest call, whoever is next', async () => {
    const { runs, submit, clock, cancels } = createBatcher();
    submit('a0');
    clock.advance(6);
    submit('b0');
    cancels.get('a0')?.abort();
    clock.advance(9);
    expect(runs).toEqual([]);
    clock.advance(1);
    expect(runs).toEqual(['b0']);
  });

  it('forgets cancelled calls, whether a batch has measured them or their turn comes later', async () => {
    const { runs, submit, clock, cancels } = createBatcher((items) => items.length);
    submit('a0', 'a1');
    cancels.get('a0')?.abort();
    submit('b0', 'b1', 'c0', 'c1');
    cancels.get('c0')?.abort();
    await settled();
    clock.advance(10);
    expect(runs).toEqual(['a1,b0,b1', 'c1']);
  });

  it('gives each client a share of the queue', () => {
    const { queue, submit } = createBatcher();
    submit('a0', 'a1');
    expect(queue.limitFor(createItem('a2'), 2, 1)).toMatchObject({ numQueuedRequests: 2, numMissing: 1 });
    expect(queue.limitFor(createItem('b0'), 2, 1)).toBeUndefined();
  });
});
