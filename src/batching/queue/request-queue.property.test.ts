import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { RequestQueue, type Queued } from './request-queue.ts';
import { clientId, requestId } from '../generation/test-support.ts';
import { runsOf } from '../testing/whole-run.ts';

const NUM_RUNS = runsOf({ whole: 1000, part: 250 });

type Action =
  | {
      readonly type: 'add';
      readonly client: string;
      readonly turn: readonly string[];
      readonly priority: number;
    }
  | { readonly type: 'take' }
  | { readonly type: 'remove'; readonly target: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      client: fc.constantFrom('a', 'b', 'c'),
      turn: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
      priority: fc.constantFrom(0, 0, 0, -1, 2),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ type: 'take' as const }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), target: fc.nat() }) },
);

/**
 * The rule of turns, without a tree: every prefix of a request's path has a ticket. A prefix draws a ticket when the first
 * request below it comes, and a new one each time a request below it is taken. The request whose tickets are the lowest,
 * outermost first, is next.
 */
class NaiveQueue {
  #waiting: Queued[] = [];
  readonly #tickets = new Map<string, number>();
  #lastTicket = 0;

  get ids(): readonly string[] {
    return this.#waiting.map(({ id }) => id);
  }

  add(request: Queued): void {
    this.#waiting.push(request);
    for (const prefix of prefixesOf(request)) {
      if (!this.#tickets.has(prefix)) this.#tickets.set(prefix, (this.#lastTicket += 1));
    }
  }

  take(): string | undefined {
    const [next] = this.#waiting.toSorted((a, b) => this.#compare(a, b));
    if (!next) return undefined;
    for (const prefix of prefixesOf(next)) this.#tickets.set(prefix, (this.#lastTicket += 1));
    return this.remove(next.id);
  }

  remove(id: string): string {
    this.#waiting = this.#waiting.filter((request) => request.id !== id);
    const live = new Set(this.#waiting.flatMap(prefixesOf));
    for (const prefix of this.#tickets.keys()) if (!live.has(prefix)) this.#tickets.delete(prefix);
    return id;
  }

  #compare(a: Queued, b: Queued): number {
    const [priorityA = 0, priorityB = 0] = [a.priority, b.priority];
    if (priorityA !== priorityB) return priorityA - priorityB;
    const [ticketsA, ticketsB] = [this.#ticketsOf(a), this.#ticketsOf(b)];
    const level = ticketsA.findIndex((ticket, index) => ticket !== ticketsB[index]);
    return (ticketsA[level] ?? 0) - (ticketsB[level] ?? 0);
  }

  #ticketsOf(request: Queued): readonly number[] {
    return prefixesOf(request).map((prefix) => this.#tickets.get(prefix) ?? 0);
  }
}

/** A class of priority has groups of its own; the request itself is its last prefix. */
function prefixesOf({ id, clientId: client, turn = [], priority = 0 }: Queued): readonly string[] {
  const path = [String(priority), client, ...turn, `#${id}`];
  return path.map((_, index) => path.slice(0, index + 1).join('/'));
}

/** The answers of both queues to an action. */
function play(queue: RequestQueue<Queued>, naive: NaiveQueue, given: Action, index: number) {
  switch (given.type) {
    case 'add': {
      const { client, turn, priority } = given;
      const request = { id: requestId(`r${index}`), clientId: clientId(client), turn, priority };
      queue.add(request);
      naive.add(request);
      return [];
    }
    case 'take':
      return [queue.take()?.id, naive.take()];
    case 'remove': {
      const target = requestId(naive.ids[given.target % Math.max(1, naive.ids.length)] ?? 'none');
      return [queue.remove(target)?.id ?? 'none', naive.remove(target)];
    }
    default:
      return given satisfies never;
  }
}

it('serves any mixture of clients, callers, turns and priorities in the order of a naive model', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80, size: 'max' }), (actions) => {
      const queue = new RequestQueue<Queued>();
      const naive = new NaiveQueue();
      for (const [index, given] of actions.entries()) {
        const [taken, expected] = play(queue, naive, given, index);
        expect(taken).toBe(expected);
        expect(queue.all.map(({ id }) => id)).toEqual(naive.ids);
      }
      while (naive.ids.length > 0) expect(queue.take()?.id).toBe(naive.take());
      expect(queue.next).toBeUndefined();
    }),
    { numRuns: NUM_RUNS },
  );
});

it('gives nobody who makes up names more than a sixteenth beyond the limit of the queue', () => {
  const submission = fc.record({
    client: fc.constantFrom('honest', 'greedy'),
    caller: fc.nat({ max: 500 }),
    numRequests: fc.constantFrom(1, 1, 1, 2, 7),
  });
  fc.assert(
    fc.property(
      fc.constantFrom(0, 64),
      fc.array(submission, { maxLength: 300, size: 'max' }),
      (numBefore, submissions) => {
        const queue = new RequestQueue<Queued>();
        const max = 64;
        // At worst another client has filled the queue.
        for (let index = 0; index < numBefore; index += 1)
          queue.add({ id: requestId(`full${index}`), clientId: clientId('honest'), turn: ['me', 'full'] });
        for (const [index, { client, caller, numRequests }] of submissions.entries()) {
          const turn = [client === 'greedy' ? `made-up-${caller}` : 'me', `t${index}`];
          const owner = { clientId: clientId(client), turn };
          if (queue.limitFor(owner, max, numRequests)) continue;
          for (let part = 0; part < numRequests; part += 1)
            queue.add({ id: requestId(`${client}${index}.${part}`), ...owner });
        }
        const numGreedy = queue.all.filter((request) => request.clientId === clientId('greedy')).length;
        expect(numGreedy).toBeLessThanOrEqual(max + max / 16);
        // The first request of a client always has a place.
        expect(queue.length).toBeLessThanOrEqual(max + max / 16 + 1);
      },
    ),
    { numRuns: NUM_RUNS },
  );
});
