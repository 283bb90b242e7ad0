import type { BrowserContext } from 'playwright/test';

import { Bridge } from '../../bridge/bridge.ts';
import type { LogEntry } from '../../bridge/http/access-log.ts';
import { startServer } from '../../bridge/server.ts';
import { Tab, type Backend } from './tab.ts';
import { expect, test as base } from './test.ts';

/** A running bridge, with the page that it serves. */
export interface ServedBridge {
  readonly url: string;
  readonly port: number;
  readonly bridge: Bridge;
  /** All that was answered. */
  readonly log: LogEntry[];
  close(): Promise<void>;
}

interface BridgeWorkerFixtures {
  /** One bridge and one tab for all tests of the project. */
  readonly sharedBridge: ServedBridge & { readonly tab: Tab };
}

interface BridgeFixtures {
  /** The shared bridge with the tab's knobs at their defaults; the test must leave it idle and the tab without errors. */
  readonly served: ServedBridge & { readonly tab: Tab };
}

export const test = base.extend<BridgeFixtures, BridgeWorkerFixtures>({
  sharedBridge: [
    async ({ browser, backend }, provide) => {
      const served = await startBridge();
      const context = await browser.newContext({ baseURL: served.url });
      const tab = await openTab(context, backend);
      await provide({ ...served, tab });
      await context.close();
      await served.close();
    },
    { scope: 'worker', timeout: 300_000 },
  ],

  served: async ({ sharedBridge }, provide) => {
    const { tab } = sharedBridge;
    await tab.configure(DEFAULT_KNOBS);
    await provide(sharedBridge);
    await tab.configure(DEFAULT_KNOBS);
    await expectIdle(tab);
    expect(tab.errors, 'errors on the console').toEqual([]);
    expect(tab.foreignUrls, 'requests to another origin').toEqual([]);
  },
});

export { expect };

/** Turns prefix caching off, so that a repeated prompt is prefilled again and batches can be counted. */
const DEFAULT_KNOBS = {
  policy: 'continuous',
  maxBatchSize: 8,
  batchWaitTimeoutMs: 0,
  maxQueuedRequests: 1000,
  prefixCaching: false,
} as const;

/** @param port 0 for any. */
export async function startBridge({
  port = 0,
  graceMs = 60_000,
  allowedOrigins = [],
  hub = [],
  batchFolder,
  root = new URL('../../dist', import.meta.url).pathname,
}: {
  readonly port?: number;
  readonly graceMs?: number;
  readonly allowedOrigins?: readonly string[];
  readonly hub?: readonly string[];
  readonly batchFolder?: string;
  /** The folder of the built page. */
  readonly root?: string;
} = {}): Promise<ServedBridge> {
  const log: LogEntry[] = [];
  let url = '';
  const bridge = new Bridge({
    host: 'localhost',
    url: () => url,
    allowedOrigins,
    graceMs,
    hub,
    batchFolder,
    log: (entry) => log.push(entry),
  });
  const server = await startServer({ host: 'localhost', port, root, hub, bridge });
  ({ url } = server);
  return { url, port: server.port, bridge, log, close: () => server.close() };
}

/** Resolves when the page's model can run. */
export async function openTab(context: BrowserContext, backend: Backend): Promise<Tab> {
  const tab = new Tab(context, await context.newPage());
  await tab.open(`?backend=${backend}`);
  await tab.ready();
  return tab;
}

/** Resolves when no request runs or waits, however the requests have ended. */
export async function expectIdle(tab: Tab): Promise<void> {
  await expect
    .poll(async () => {
      const metrics = await tab.page.evaluate(() => window.tabserve.metrics());
      return ['running', 'waiting'].map((state) => gaugeOf(metrics, `vllm:num_requests_${state}`));
    })
    .toEqual([0, 0]);
}

function gaugeOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(metrics)?.[1] ?? 0);
}
