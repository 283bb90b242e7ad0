import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';

import autocannon from 'autocannon';
import type { Page } from 'playwright';

import type { BatchRecord } from '../../../src/protocol/stats.ts';

export interface Load {
  /** Clients at once, each with one request at a time. */
  readonly connections: number;
  readonly seconds: number;
}

export interface AdderLoad {
  /** Connection errors, HTTP errors and timeouts. */
  readonly numErrors: number;
  readonly numAnswered: number;
  readonly itemsPerSecond: number;
  /** The batches that began and ended under full load, oldest first. */
  readonly batches: readonly BatchRecord[];
}

/** The first and last batches may be smaller, because connections open and close one by one. */
const NUM_EDGE_BATCHES = 2;

/** Sends requests through the bridge. */
export async function loadAdder(page: Page, url: string, { connections, seconds }: Load): Promise<AdderLoad> {
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

/** Times the same call in the page and over HTTP, alternating. */
export async function compareCalls(
  page: Page,
  url: string,
  numCalls: number,
): Promise<{ readonly inPageMs: number[]; readonly overHttpMs: number[] }> {
  const inPageMs: number[] = [];
  const overHttpMs: number[] = [];
  // The connection is kept, as by any client that sends more than one request.
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
