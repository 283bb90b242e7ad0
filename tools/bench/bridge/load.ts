import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';

import autocannon from 'autocannon';
import type { Page } from 'playwright';

import type { TabserveClient } from '../../../src/client/client.ts';
import type { PageDeployments } from '../../../src/deployments/registry.ts';
import type { BatchRecord } from '../../../src/protocol/stats.ts';

declare global {
  interface Window {
    tabserve: TabserveClient<PageDeployments>;
  }
}

export interface AdderLoad {
  /** Connections and HTTP errors, and time-outs. */
  readonly numErrors: number;
  readonly numAnswered: number;
  readonly itemsPerSecond: number;
  /** Those that began and ended under full load, oldest first. */
  readonly batches: readonly BatchRecord[];
}

/** Batches at the beginning and at the end may lack company: the connections come, and go, one by one. */
const NUM_EDGE_BATCHES = 2;

/** As many clients at once as there are connections, each with one request at a time, through the bridge. */
export async function loadAdder(
  page: Page,
  url: string,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<AdderLoad> {
  const numBefore = await lastBatchIndex(page);
  const result = await autocannon({ url: `${url}/adder?number=3`, connections, duration: seconds });
  const batches = await page.evaluate(() => window.tabserve.batches('adder'));
  return {
    numErrors: result.errors + result.timeouts + result.non2xx,
    numAnswered: result['2xx'],
    itemsPerSecond: result['2xx'] / result.duration,
    batches: batches
      .filter(({ batchIndex }) => batchIndex > numBefore)
      .slice(NUM_EDGE_BATCHES, -NUM_EDGE_BATCHES),
  };
}

/** The same call in the page and over HTTP, in turns: how long each took, ms. */
export async function compareCalls(
  page: Page,
  url: string,
  numCalls: number,
): Promise<{ readonly inPageMs: number[]; readonly overHttpMs: number[] }> {
  const inPageMs: number[] = [];
  const overHttpMs: number[] = [];
  // As any client that asks more than once: the connection is there already.
  const agent = new Agent({ keepAlive: true });
  for (let call = 0; call < numCalls; call++) {
    inPageMs.push(await page.evaluate(timeCallInPage));
    overHttpMs.push(await timeCallOverHttp(`${url}/adder?number=3`, agent));
  }
  agent.destroy();
  return { inPageMs, overHttpMs };
}

async function timeCallOverHttp(url: string, agent: Agent): Promise<number> {
  const startMs = performance.now();
  const [response]: IncomingMessage[] = await once(get(url, { agent }), 'response');
  response?.resume();
  if (response) await once(response, 'end');
  return performance.now() - startMs;
}

/** Runs in the page, sent there as text. */
async function timeCallInPage(): Promise<number> {
  const startMs = performance.now();
  await window.tabserve.getHandle('adder').remote(3);
  return performance.now() - startMs;
}

async function lastBatchIndex(page: Page): Promise<number> {
  return page.evaluate(() => window.tabserve.batches('adder').at(-1)?.batchIndex ?? -1);
}
