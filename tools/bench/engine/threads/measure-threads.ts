import type { Page } from 'playwright';

import { gpt2Checkpoint } from '../../../hub-server/checkpoints/gpt2-checkpoint.ts';
import { describeModel } from '../../conditions.ts';
import { loadedOf } from '../../open-ready.ts';
import { measureInPage } from '../measure.ts';
import type { ThreadsResult } from '../results.ts';
import { knobsOf, requestsOf, SUSTAINED_MS, type Scenario } from '../scenarios.ts';
import { loadStandIn } from '../stand-in.ts';
import { spreadOf } from '../../statistics.ts';
import { runBeforeWorker } from '../../worker-preface.ts';

const NUM_THREADS = [1, 2, 4];
const NUM_REQUESTS = [1, 8];
const NUM_TOKENS = 32;

interface Contender {
  readonly page: Page;
  readonly adapter: string;
  readonly model: ThreadsResult['model'];
}

/**
 * Measures the same requests with different numbers of WASM threads, in turns.
 *
 * @param openPage Opens a page that is ready to generate, in a context of its own.
 */
export async function measureThreads(
  openPage: (prepare: (page: Page) => Promise<void>) => Promise<Page>,
  rounds: number,
): Promise<readonly ThreadsResult[]> {
  const contenders: Contender[] = [];
  for (const numThreads of NUM_THREADS) contenders.push(await open(openPage, numThreads));
  const results = NUM_REQUESTS.flatMap((numRequests) =>
    contenders.map((contender) => ({ contender, numRequests, rates: [] as number[] })),
  );
  for (let round = 1; round <= rounds; round++) {
    for (const { contender, numRequests, rates } of results) {
      rates.push(await tokensPerSecond(contender.page, { policy: 'continuous', numRequests }));
    }
  }
  return results.map(({ contender: { model, adapter }, numRequests, rates }) => ({
    model,
    adapter,
    numRequests,
    tokensPerSecond: spreadOf(rates),
  }));
}

async function open(
  openPage: (prepare: (page: Page) => Promise<void>) => Promise<Page>,
  numThreads: number,
): Promise<Contender> {
  // The worker starts a thread for every two cores.
  const page = await openPage((opened) => runBeforeWorker(opened, reportCores, 2 * numThreads));
  const { backend, model } = loadedOf(await loadStandIn(page, 'gpt2-6-layers', wideStandIn()));
  return { page, adapter: backend.adapter, model: describeModel(model) };
}

/** Runs in the worker. */
function reportCores(numCores: number): void {
  Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => numCores });
}

/** A model of Storyteller's size has products too small to be divided among threads. */
function wideStandIn() {
  return gpt2Checkpoint({
    config: { n_embd: 384, n_head: 6, n_layer: 6, n_positions: 256, vocab_size: 2048 },
  });
}

/** A short run goes first: it makes room in the K/V cache. */
async function tokensPerSecond(page: Page, scenario: Scenario): Promise<number> {
  const knobs = knobsOf(scenario);
  await page.evaluate(measureInPage, { knobs, requests: requestsOf(scenario, 3), leastMs: 0 });
  const { numOutputTokens, wallMs } = await page.evaluate(measureInPage, {
    knobs,
    requests: requestsOf(scenario, NUM_TOKENS),
    leastMs: SUSTAINED_MS,
  });
  return (1000 * numOutputTokens) / wallMs;
}
