import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestCancelledError } from '../batching/base/errors.ts';
import { clientId } from '../batching/generation/test-support.ts';
import type { Outbox } from '../worker/serving/tab-messages.ts';
import { createServeHost } from '../worker/test-support.ts';
import { TabserveClient } from './client.ts';
import type { ClientUpdate } from './topics.ts';
import { defineDeployment } from '../protocol/deployment.ts';
import type { ClientId } from '../protocol/ids.ts';
import { type ClientMessage, parseClientMessage } from '../protocol/client-messages.ts';
import { PROTOCOL_VERSION } from '../protocol/wire.ts';
import { ServeWorker } from '../worker/serving/serve-worker.ts';
import type { Link, LinkListener } from './links/link.ts';
import { parseWorkerMessage } from '../protocol/worker-messages.ts';
import { runsOf } from '../batching/testing/whole-run.ts';

// Real tabs and workers, on channels that deliver when the test says so.

const NUM_RUNS = runsOf({ whole: 100, part: 40 });

const adder = defineDeployment<number, number>({
  name: 'adder',
  checkInput: Number,
  batchOptions: { maxBatchSize: 2 },
  handler: (numbers) => Promise.resolve(numbers.map((number) => number + 1)),
});

class Tab {
  readonly serve: TabserveClient;
  readonly inbox: unknown[] = [];
  /** How often each request ended. */
  readonly ends = new Map<string, number>();
  readonly wrong: string[] = [];
  readonly #listener: LinkListener;
  #last: { cancel(): void } | undefined;

  constructor(site: Site, id: ClientId) {
    let heard: LinkListener | undefined;
    this.serve = new TabserveClient(id, (listener): Link => {
      heard = listener;
      return {
        isolationReason: '',
        post: (message) =>
          site.post({ version: PROTOCOL_VERSION, clientId: id, ...message } satisfies ClientMessage),
        close: () => {},
      };
    });
    if (!heard) throw new Error('A TabserveClient opens its link.');
    this.#listener = heard;
    this.serve.subscribe('requests', (updates) => updates.forEach((update) => this.#count(update)));
    this.#listener.onOpen();
  }

  submit(number: number): void {
    const response = this.serve.getHandle<number, number>('adder').remote(number);
    this.ends.set(response.requestId, 0);
    this.#last = response;
    void this.#check(response, number + 1);
  }

  cancelLast(): void {
    this.#last?.cancel();
  }

  deliver(): void {
    const message = parseWorkerMessage(this.inbox.shift());
    if (message) this.#listener.onMessage(message);
  }

  async #check(response: PromiseLike<number>, expected: number): Promise<void> {
    try {
      const answer = await response;
      if (answer !== expected) this.wrong.push(`${answer} instead of ${expected}`);
    } catch (error) {
      if (!(error instanceof RequestCancelledError)) this.wrong.push(String(error));
    }
  }

  #count({ type, requestId }: ClientUpdate): void {
    if (type !== 'answered' && type !== 'failed') return;
    this.ends.set(requestId, (this.ends.get(requestId) ?? 0) + 1);
  }
}

/** Tabs, and at most one worker: what is sent while none listens is lost, as on a BroadcastChannel. */
class Site {
  readonly tabs: readonly Tab[];
  #worker: ServeWorker | undefined;
  #inbox: unknown[] = [];

  constructor(numTabs: number) {
    this.tabs = Array.from({ length: numTabs }, (_, index) => new Tab(this, clientId(`tab ${index}`)));
  }

  get isQuiet(): boolean {
    return this.#inbox.length === 0 && this.tabs.every(({ inbox }) => inbox.length === 0);
  }

  get hasWorker(): boolean {
    return this.#worker !== undefined;
  }

  post(message: ClientMessage): void {
    if (this.#worker) this.#inbox.push(structuredClone(message));
  }

  startWorker(): void {
    const { tabs } = this;
    const outbox: Outbox = {
      toAll: (message) => {
        if (this.#worker === worker) for (const { inbox } of tabs) inbox.push(structuredClone(message));
      },
      toClient: (id, message) => {
        if (this.#worker === worker) this.#tabOf(id)?.inbox.push(structuredClone(message));
      },
    };
    const worker: ServeWorker = new ServeWorker([adder], outbox, createServeHost());
    this.#worker = worker;
    worker.announce();
  }

  /** Messages that it has sent still arrive. Messages to it are lost. */
  loseWorker(): void {
    this.#worker = undefined;
    this.#inbox = [];
  }

  deliverToWorker(): void {
    const message = parseClientMessage(this.#inbox.shift());
    if (message) this.#worker?.receive(message);
  }

  #tabOf(id: ClientId): Tab | undefined {
    return this.tabs.find((_, index) => id === `tab ${index}`);
  }
}

type Action =
  | { readonly type: 'submit'; readonly tab: number; readonly input: number }
  | { readonly type: 'cancel'; readonly tab: number }
  | { readonly type: 'deliver to tab'; readonly tab: number }
  | { readonly type: 'deliver to worker' }
  | { readonly type: 'work' }
  | { readonly type: 'lose worker' }
  | { readonly type: 'start worker' };

const tab = fc.nat({ max: 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('submit' as const), tab, input: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel' as const), tab }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('deliver to tab' as const), tab }) },
  { weight: 6, arbitrary: fc.constant({ type: 'deliver to worker' as const }) },
  { weight: 3, arbitrary: fc.constant({ type: 'work' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'lose worker' as const }) },
  { weight: 3, arbitrary: fc.constant({ type: 'start worker' as const }) },
);

/** Lets handlers answer. */
const work = () => vi.advanceTimersByTimeAsync(0);

async function apply(site: Site, step: Action): Promise<void> {
  switch (step.type) {
    case 'submit':
      site.tabs[step.tab]?.submit(step.input);
      break;
    case 'cancel':
      site.tabs[step.tab]?.cancelLast();
      break;
    case 'deliver to tab':
      site.tabs[step.tab]?.deliver();
      break;
    case 'deliver to worker':
      site.deliverToWorker();
      break;
    case 'work':
      await work();
      break;
    case 'lose worker':
      site.loseWorker();
      break;
    case 'start worker':
      if (!site.hasWorker) site.startWorker();
      break;
    default:
      step satisfies never;
  }
}

/** Delivers all messages, and lets every handler answer. */
async function drain(site: Site): Promise<void> {
  if (!site.hasWorker) site.startWorker();
  for (let isQuiet = false; !isQuiet; isQuiet = site.isQuiet) {
    while (!site.isQuiet) {
      site.deliverToWorker();
      for (const each of site.tabs) each.deliver();
    }
    await work();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('requests of tabs whose workers are lost', () => {
  it('end where one reaches the next worker before the hello of its tab', async () => {
    const site = new Site(1);
    const [only] = site.tabs;
    site.startWorker();
    await drain(site);
    site.loseWorker();
    site.startWorker();
    only?.submit(3);
    site.deliverToWorker();
    await work();
    await drain(site);
    expect([...(only?.ends.values() ?? [])]).toEqual([1]);
  });

  it('end exactly once and with the right answer, whatever the order in which messages arrive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 80, size: 'max' }), async (actions) => {
        const site = new Site(2);
        for (const step of actions) await apply(site, step);
        await drain(site);
        for (const { ends, wrong } of site.tabs) {
          expect([...ends.values()]).toEqual(Array.from(ends, () => 1));
          expect(wrong).toEqual([]);
        }
      }),
      { numRuns: NUM_RUNS },
    );
  });
});
