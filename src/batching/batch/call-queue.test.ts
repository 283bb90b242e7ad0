import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallQueue, CHUNK_SIZE } from './call-queue.ts';
import { CancelHandle } from './cancel-handle.ts';
import { runsOf } from '../testing/whole-run.ts';

type Queue = CallQueue<string, string>;

interface ModelCall {
  readonly order: number;
  readonly size: number;
  readonly handle: CancelHandle | undefined;
}

type Action =
  | { readonly type: 'push'; readonly count: number; readonly size: number; readonly hasHandle: boolean }
  | { readonly type: 'remove'; readonly from: number; readonly count: number }
  | { readonly type: 'take'; readonly count: number };

const few = fc.integer({ min: 1, max: 2 * CHUNK_SIZE });
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    type: fc.constant('push' as const),
    count: few,
    size: fc.integer({ min: 0, max: 3 }),
    hasHandle: fc.boolean(),
  }),
  fc.record({ type: fc.constant('remove' as const), from: fc.nat({ max: 4 * CHUNK_SIZE }), count: few }),
  fc.record({ type: fc.constant('take' as const), count: few }),
);

function push(queue: Queue, size = 1, handle?: CancelHandle): number {
  const next = queue.end;
  const order = queue.push(`item ${next}`, `to ${next}`, () => {}, next * 10);
  if (size !== 1) queue.setSize(order, size);
  if (handle) queue.setHandle(order, handle);
  return order;
}

/** Walks from the head to the end. */
function describeCalls(queue: Queue): object[] {
  const calls: object[] = [];
  for (let order = queue.after(undefined); order !== undefined; order = queue.after(order)) {
    const arrivedAtMs = queue.arrivedAtMs(order);
    calls.push({ order, item: queue.itemOf(order), size: queue.sizeOf(order), arrivedAtMs });
  }
  return calls;
}

function act(step: Action, queue: Queue, model: ModelCall[]): void {
  if (step.type === 'push') {
    for (let pushed = 0; pushed < step.count; pushed++) {
      const handle = step.hasHandle ? new CancelHandle() : undefined;
      model.push({ order: push(queue, step.size, handle), size: step.size, handle });
    }
  } else if (step.type === 'remove') {
    for (const { order } of model.splice(step.from, step.count)) queue.remove(order);
  } else {
    takeAndCompare(queue, model.splice(0, step.count));
  }
}

function takeAndCompare(queue: Queue, expected: readonly ModelCall[]): void {
  const taken = queue.take(expected.length);
  expect(taken.items).toEqual(expected.map(({ order }) => `item ${order}`));
  expect(taken.tos).toEqual(expected.map(({ order }) => `to ${order}`));
  expect(expected.map((_, index) => taken.handles[index])).toEqual(expected.map(({ handle }) => handle));
}

describe('CallQueue', () => {
  it('is a list of calls in order of arrival, whoever leaves from where', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 15 }), (actions) => {
        const queue: Queue = new CallQueue();
        const model: ModelCall[] = [];
        for (const step of actions) {
          act(step, queue, model);
          expect(describeCalls(queue)).toEqual(
            model.map(({ order, size }) => ({ order, item: `item ${order}`, size, arrivedAtMs: order * 10 })),
          );
          expect(queue.length).toBe(model.length);
          const everyOrder = Array.from({ length: queue.end }, (_, order) => order);
          expect(everyOrder.filter((order) => queue.has(order))).toEqual(model.map(({ order }) => order));
        }
      }),
      { numRuns: runsOf({ whole: 100, part: 30 }) },
    );
  });

  it('gives the reject of the call that leaves', () => {
    const queue: Queue = new CallQueue();
    const rejections: unknown[] = [];
    queue.push('first', 'to', () => rejections.push('first'), 0);
    queue.push('second', 'to', (error) => rejections.push(error), 0);
    queue.remove(1)('second');
    expect(rejections).toEqual(['second']);
  });

  it('finds who is next in constant time, however many have come and left behind a call that waits', () => {
    const queue: Queue = new CallQueue();
    const head = push(queue);
    for (let visits = 0; visits < 100_000; visits++) {
      const visitor = push(queue);
      if (queue.after(head) !== visitor) throw new Error('the visitor is next');
      queue.remove(visitor);
    }
    expect(queue.after(head)).toBeUndefined();
    expect(queue.length).toBe(1);
  });
});
