import autocannon from 'autocannon';
import type { Page } from 'playwright';

import type { BatchRecord } from '../../src/protocol/stats.ts';

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

async function lastBatchIndex(page: Page): Promise<number> {
  return page.evaluate(() => window.tabserve.batches('adder').at(-1)?.batchIndex ?? -1);
}
