import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientId } from '../batching/generation/test-support.ts';
import { TabserveClient } from './client.ts';
import type { PolicyOverride } from './knob-override.ts';
import { PROTOCOL_VERSION } from '../protocol/wire.ts';
import type { ClientId } from '../protocol/ids.ts';
import { type ClientMessage, parseClientMessage } from '../protocol/client-messages.ts';
import type { PolicyName } from '../protocol/status.ts';
import { ServeWorker } from '../worker/serving/serve-worker.ts';
import type { Link, LinkListener } from './links/link.ts';
import type { Outbox } from '../worker/serving/tab-messages.ts';
import { createServeHost } from '../worker/test-support.ts';
import { parseWorkerMessage } from '../protocol/worker-messages.ts';
import { runsOf } from '../batching/testing/whole-run.ts';

// Real tabs and workers, on channels and locks that deliver when the test says so. Users change only `maxBatchSize`, and
// overrides change only `policy`, which tells the two apart.

const NUM_RUNS = runsOf({ whole: 200, part: 70 });

class Tab {
  readonly id: ClientId;
  readonly serve: TabserveClient;
  readonly inbox: unknown[] = [];
  isOpen = true;
  /** As a load test has them, the last one granted at the end. */
  readonly overrides: PolicyOverride[] = [];
  readonly #listener: LinkListener;

  constructor(site: Site, id: ClientId) {
    this.id = id;
    let heard: LinkListener | undefined;
    this.serve = new TabserveClient(id, (listener): Link => {
      heard = listener;
      return {
        isolationReason: '',
        post: (message) => {
          if (this.isOpen)
            site.post({ version: PROTOCOL_VERSION, clientId: id, ...message } satisfies ClientMessage);
        },
        close: () => {},
      };
    });
    if (!heard) throw new Error('A TabserveClient opens its link.');
    this.#listener = heard;
    this.#listener.onOpen();
  }

  /** The policy that this tab has set, as far as it knows. */
  get holding(): readonly PolicyOverride[] {
    return this.isOpen ? this.overrides.filter(({ held }) => held) : [];
  }

  override(policy: PolicyName): void {
    const asked = this.serve.overridePolicy({ policy });
    asked.then(
      (override) => this.overrides.push(override),
      () => {},
    );
  }

  change(policy: PolicyName): void {
    this.overrides.at(-1)?.change({ policy }).catch(ignore);
  }

  release(): void {
    for (const override of this.overrides) void override.release();
  }

  configure(maxBatchSize: number): void {
    this.serve.configure('text-generator', { maxBatchSize }).catch(ignore);
  }

  suspend(): void {
    this.#listener.onSuspend();
  }

  deliver(): void {
    const message = parseWorkerMessage(this.inbox.shift());
    if (message && this.isOpen) this.#listener.onMessage(message);
  }
}

/** Tabs, and at most one worker, which hears of a tab's end by its lock. */
class Site {
  readonly tabs: readonly Tab[];
  #worker: ServeWorker | undefined;
  #inbox: unknown[] = [];
  /** Tabs whose locks the worker queues for. */
  #met = new Set<Tab>();

  constructor(numTabs: number) {
    this.tabs = Array.from({ length: numTabs }, (_, index) => new Tab(this, clientId(`tab ${index}`)));
  }

  get hasWorker(): boolean {
    return this.#worker !== undefined;
  }

  get isQuiet(): boolean {
    const { tabs } = this;
    const isGranted = [...this.#met].some(({ isOpen }) => !isOpen);
    return this.#inbox.length === 0 && !isGranted && tabs.every(({ inbox }) => inbox.length === 0);
  }

  post(message: ClientMessage): void {
    if (this.#worker) this.#inbox.push(structuredClone(message));
  }

  startWorker(): void {
    const { tabs } = this;
    const send = (to: readonly Tab[], message: unknown): void => {
      if (this.#worker === worker) for (const { inbox } of to) inbox.push(structuredClone(message));
    };
    const outbox: Outbox = {
      toAll: (message) => send(tabs, message),
      toClient: (id, message) =>
        send(
          tabs.filter((tab) => tab.id === id),
          message,
        ),
    };
    const worker: ServeWorker = new ServeWorker([], outbox, createServeHost());
    this.#worker = worker;
    worker.announce();
  }

  loseWorker(): void {
    this.#worker = undefined;
    this.#inbox = [];
    this.#met.clear();
  }

  deliverToWorker(): void {
    const message = parseClientMessage(this.#inbox.shift());
    const sender = this.tabs.find(({ id }) => id === message?.clientId);
    if (!message || !sender) return;
    this.#met.add(sender);
    this.#worker?.receive(message);
  }

  /** Locks of tabs that are gone are granted to the worker that queues for them. */
  deliverLocks(): void {
    for (const tab of this.#met) {
      if (tab.isOpen) continue;
      this.#met.delete(tab);
      this.#worker?.forget(tab.id);
    }
  }
}

const POLICIES = ['off', 'static'] as const;

/** Events with weights. The number chooses a tab, and any other parameter. */
const ACTIONS: Readonly<Record<string, readonly [number, (site: Site, tab: Tab, choice: number) => void]>> = {
  override: [4, (_, tab, choice) => tab.override(POLICIES[choice % 2] ?? 'off')],
  change: [2, (_, tab, choice) => tab.change(POLICIES[choice % 2] ?? 'off')],
  release: [2, (_, tab) => tab.release()],
  configure: [2, (_, tab, choice) => tab.configure(1 + (choice % 8))],
  suspended: [1, (_, tab) => tab.suspend()],
  leave: [
    1,
    (_, tab) => {
      tab.isOpen = false;
    },
  ],
  'deliver to tab': [8, (_, tab) => tab.deliver()],
  'deliver to worker': [8, (site) => site.deliverToWorker()],
  'deliver locks': [3, (site) => site.deliverLocks()],
  'lose worker': [1, (site) => site.loseWorker()],
  'start worker': [
    3,
    (site) => {
      if (!site.hasWorker) site.startWorker();
    },
  ],
};

const action = fc.record({
  name: fc.oneof(
    ...Object.entries(ACTIONS).map(([name, [weight]]) => ({ weight, arbitrary: fc.constant(name) })),
  ),
  choice: fc.nat(63),
});

/** Its release is answered by the worker before the one that grants it. */
const ANSWERED_BY_TWO = [
  'start worker',
  'deliver to tab',
  'deliver to worker',
  'override',
  'lose worker',
  'start worker',
  'deliver to tab',
  'deliver to worker',
  'deliver to tab',
  'suspended',
  'deliver to worker',
  'deliver to worker',
  'lose worker',
].map((name) => ({ name, choice: 0 }));

/** The second change reaches the next worker before the first, which is asked again once that worker has welcomed the tab. */
const ASKED_BEFORE_THE_WELCOME = (
  [
    ['start worker', 0],
    ['deliver to tab', 1],
    ['override', 1],
    ['deliver to worker', 0],
    ['deliver to tab', 1],
    ['deliver to worker', 0],
    ['deliver to tab', 1],
    ['deliver to tab', 1],
    ['lose worker', 0],
    ['change', 1],
    ['start worker', 0],
    ['deliver to tab', 1],
    ['change', 4],
  ] as const
).map(([name, choice]) => ({ name, choice }));

/** Lets answers reach their callers. */
const settle = () => vi.advanceTimersByTimeAsync(0);

async function drain(site: Site): Promise<void> {
  if (!site.hasWorker) site.startWorker();
  for (let isQuiet = false; !isQuiet; isQuiet = site.isQuiet) {
    while (!site.isQuiet) {
      site.deliverToWorker();
      site.deliverLocks();
      for (const tab of site.tabs) tab.deliver();
      // Each message is a task of its own.
      await settle();
    }
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the users’ policy', () => {
  it('comes back when the tabs of all overrides have ended, whatever was lost and delivered in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 80, size: 'max' }), async (actions) => {
        const site = new Site(4);
        const [watching, ...others] = site.tabs;
        for (const { name, choice } of actions) {
          const tab = others[choice % others.length];
          if (tab) ACTIONS[name]?.[1](site, tab, choice);
          await settle();
        }
        await drain(site);
        const holders = others.flatMap(({ holding }) => holding);
        const held = watching?.serve.status();
        expect(holders).toHaveLength(held?.override ? 1 : 0);
        expect(held?.policy.policy).toBe(policyOf(holders[0]));

        for (const tab of others) tab.isOpen = false;
        await drain(site);
        const after = watching?.serve.status();
        expect(after).not.toHaveProperty('override');
        expect(after?.policy).toEqual(held?.override?.basePolicy ?? held?.policy);
        expect(after?.policy.policy).toBe('continuous');
      }),
      { numRuns: NUM_RUNS, examples: [[ANSWERED_BY_TWO], [ASKED_BEFORE_THE_WELCOME]] },
    );
  });
});

function ignore(): void {
  // A load test would show the error to its user.
}

function policyOf(override: PolicyOverride | undefined): string {
  const knobs = override?.held?.knobs;
  return knobs && 'policy' in knobs ? knobs.policy : 'continuous';
}
