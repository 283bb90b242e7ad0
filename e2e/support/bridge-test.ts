import type { Browser } from 'playwright/test';

import { Bridge } from '../../bridge/bridge.ts';
import type { LogEntry } from '../../bridge/http/access-log.ts';
import { startServer } from '../../bridge/server.ts';
import {
  CHAT_MODEL,
  chatCheckpoint,
  TOOL_MODEL,
  toolCheckpoint,
} from '../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { createRepository } from '../../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../../tools/hub-server/hub-server.ts';
import { DEFAULT_KNOBS as KNOBS, openTab, type Backend, type Tab } from './tab.ts';
import { expect, test as base } from './test.ts';

export interface ServedBridge {
  readonly url: string;
  readonly port: number;
  readonly bridge: Bridge;
  readonly log: LogEntry[];
  close(): Promise<void>;
}

export type ServedTab = ServedBridge & { readonly tab: Tab };

export interface BridgeWorkerFixtures {
  /** One bridge and one tab for all tests of the project. */
  readonly sharedBridge: ServedTab;
  /** The same with a hub of models that chat. It is here so that one browser serves the tests of both. */
  readonly sharedChat: ServedTab;
}

export interface BridgeFixtures {
  /** The shared bridge with the tab's knobs at their defaults; the test must leave it idle and the tab without errors. */
  readonly served: ServedTab;
}

export const test = base.extend<BridgeFixtures, BridgeWorkerFixtures>({
  sharedBridge: [
    ({ browser, backend }, provide) => withServedTab(browser, backend, [], provide),
    { scope: 'worker', timeout: 300_000 },
  ],

  sharedChat: [
    async ({ browser, backend }, provide) => {
      await using hub = await startHubServer([
        createRepository(CHAT_MODEL, chatCheckpoint()),
        createRepository(TOOL_MODEL, toolCheckpoint()),
      ]);
      await withServedTab(browser, backend, [hub.url], provide);
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
const DEFAULT_KNOBS = { ...KNOBS, prefixCaching: false };

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

/** Serves a tab of its own until `run` ends. @param hub The hubs that the page may load models from. */
async function withServedTab(
  browser: Browser,
  backend: Backend,
  hub: readonly string[],
  run: (served: ServedTab) => Promise<void>,
): Promise<void> {
  const served = await startBridge({ hub });
  const context = await browser.newContext({ baseURL: served.url });
  await run({ ...served, tab: await openTab(context, backend) });
  await context.close();
  await served.close();
}

/** Resolves when no request runs or waits, however the requests have ended. */
export async function expectIdle(tab: Tab): Promise<void> {
  await expect
    .poll(async () => {
      const metrics = await tab.page.evaluate(() => window.tabserve.metrics());
      return ['running', 'waiting'].map((state) => {
        const [, gauge] = new RegExp(`^vllm:num_requests_${state} (.*)$`, 'm').exec(metrics) ?? [];
        return Number(gauge ?? 0);
      });
    })
    .toEqual([0, 0]);
}
