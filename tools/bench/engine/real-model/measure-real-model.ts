import type { Browser, Page } from 'playwright';

import type { BatchingPolicy } from '../../../../src/protocol/status.ts';
import { contentSecurityPolicy } from '../../../../bridge/static/content-security-policy.ts';
import { conditionsOf, describeModel } from '../../conditions.ts';
import { loadedOf, openReady } from '../../open-ready.ts';
import { residentBytes } from '../../process-memory.ts';
import { loadSmollm2, smollm2Prompts, startSmollm2Hub } from '../../smollm2.ts';
import { withBrowser } from '../../with-browser.ts';
import type { BenchOptions } from '../options.ts';
import type { PrecisionResult, RealModelRun } from '../results.ts';
import { knobsOf, type ScenarioRequest } from '../scenarios.ts';
import { playInPage, type Play, type Played } from './in-page.ts';
import { summarizeRows, summarizeStall } from './summarize.ts';

const PROMPT_LENGTHS = [40, 400];

/** While this text runs, four prompts of 200 tokens arrive. Every round generates the same number of tokens. */
const RUNNING_TOKENS = 120;
const NUM_LATE = 4;
const LATE_PROMPT_LENGTH = 200;
const AFTER_TOKENS = 16;

/** Each precision in a page of its own, so that its memory is its own. */
export async function measureRealModel(root: string, chosen: BenchOptions): Promise<RealModelRun> {
  const { dtypes, rows, rounds, maxNewTokens } = chosen;
  const hub = await startSmollm2Hub();
  const policy = contentSecurityPolicy([hub.url]);
  try {
    return await withBrowser({ root, args: [], policy }, async ({ browser, version, url }) => {
      const command = `--model smollm2 --dtypes ${dtypes.join(',')} --rows ${rows.join(',')} --rounds ${rounds} --max-new-tokens ${maxNewTokens}`;
      const conditions = conditionsOf(command, version);
      const precisions: PrecisionResult[] = [];
      let described: Pick<RealModelRun, 'backend' | 'model'> | undefined;
      for (const dtype of dtypes) {
        const { page } = await openReady(await browser.newContext(), `${url}/?backend=wasm`);
        const { backend, model } = loadedOf(await loadSmollm2(page, hub.url, dtype));
        described ??= { backend, model: describeModel(model) };
        precisions.push({ dtype, ...(await measurePrecision(browser, page, chosen)) });
        await page.context().close();
      }
      if (!described) throw new Error('No precision was measured.');
      return { ...conditions, ...described, settings: { rounds, maxNewTokens }, precisions };
    });
  } finally {
    await hub.close();
  }
}

async function measurePrecision(
  browser: Browser,
  page: Page,
  { rows, rounds, maxNewTokens }: BenchOptions,
): Promise<Omit<PrecisionResult, 'dtype'>> {
  const play = (plan: Play): Promise<Played> => page.evaluate(playInPage, plan);
  const cases = PROMPT_LENGTHS.flatMap((length) =>
    rows.map((numRequests) => ({ length, numRequests, rounds: new Array<Played>() })),
  );
  const stalls: Record<'auto' | 'unlimited', Played[]> = { auto: [], unlimited: [] };
  // The browser optimizes WebAssembly while it first runs.
  await play(rowsOf(40, 2, maxNewTokens));
  for (let round = 1; round <= rounds; round++) {
    for (const { length, numRequests, rounds: played } of cases) {
      played.push(await play(rowsOf(length, numRequests, maxNewTokens)));
      console.log(`round ${round}: ${numRequests} prompts of ${length} tokens`);
    }
    stalls.auto.push(await play(latePrompts('auto', maxNewTokens)));
    stalls.unlimited.push(await play(latePrompts(Infinity, maxNewTokens)));
    console.log(`round ${round}: ${NUM_LATE} late prompts of ${LATE_PROMPT_LENGTH} tokens`);
  }
  return {
    residentBytes: Math.max(...(await residentBytes(browser, 'renderer'))),
    rows: cases.map((entry) => summarizeRows(entry.rounds)),
    stall: summarizeStall(stalls.auto, stalls.unlimited),
  };
}

function rowsOf(length: number, numRequests: number, maxNewTokens: number): Play {
  const knobs = { ...knobsOf({ policy: 'continuous', numRequests }), prefillStallMs: 'auto' } as const;
  return { knobs, requests: requestsOf(length, numRequests, maxNewTokens) };
}

function latePrompts(prefillStallMs: BatchingPolicy['prefillStallMs'], maxNewTokens: number): Play {
  return {
    knobs: {
      policy: 'continuous',
      maxBatchSize: 1 + NUM_LATE,
      batchWaitTimeoutMs: 0,
      prefixCaching: false,
      prefillStallMs,
    },
    requests: requestsOf(40, 1, RUNNING_TOKENS),
    late: { afterTokens: AFTER_TOKENS, requests: requestsOf(LATE_PROMPT_LENGTH, NUM_LATE, maxNewTokens) },
  };
}

function requestsOf(length: number, count: number, maxNewTokens: number): readonly ScenarioRequest[] {
  const options = { temperature: 0, maxNewTokens, ignoreEos: true };
  return smollm2Prompts(length, count).map(({ prompt }) => ({ prompt, options }));
}
