import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright';

import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { parseBackend, parseCount } from '../command-line.ts';
import { conditionsOf, machineText } from '../conditions.ts';
import { openReady } from '../open-ready.ts';
import { residentBytes } from '../process-memory.ts';
import { percentilesOf, spreadOf } from '../statistics.ts';
import { withBrowser } from '../with-browser.ts';
import { runClosedLoop, runJob, timeFirstTokens, type RowsPlan } from './in-page.ts';

interface JobsOptions {
  readonly backend: 'webgpu' | 'wasm';
  readonly rows: number;
  readonly rounds: number;
}

const USAGE = `\
  --backend NAME  wasm (default) or webgpu
  --rows N        rows of each job (default 400)
  --rounds N      times that each case is measured (default 5)`;

const SHORT = 'Once upon a time there was a {{thing}} number {{number}}';
/** About 200 tokens that all rows share. */
const LONG = `${'The little dog and the big cat went to the park and played with the red ball all day. '.repeat(9)}${SHORT}`;
const NUM_PROMPTS = 20;
const MIB = 2 ** 20;

export const bench = defineBench(
  USAGE,
  (args): JobsOptions => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        backend: { type: 'string', default: 'wasm' },
        rows: { type: 'string', default: '400' },
        rounds: { type: 'string', default: '5' },
      },
    });
    return {
      backend: parseBackend(values.backend),
      rows: parseCount('--rows', values.rows),
      rounds: parseCount('--rounds', values.rounds),
    };
  },
  async (options) => {
    const site = { root: await buildPage(), args: WEBGPU_ARGUMENTS };
    await withBrowser(site, async ({ browser, version, url }) => {
      const { backend, rows, rounds } = options;
      const command = `jobs --backend ${backend} --rows ${rows} --rounds ${rounds}`;
      console.log(`${version}, ${machineText(conditionsOf(command, version))}\n`);
      const { page } = await openReady(browser, `${url}?backend=${backend}`);
      await measureRates(page, options);
      await measureFirstTokens(page, options);
      await measureMemory(browser, page, rows);
    });
  },
);

/** Rows per second of a job and of as many requests as there are slots, alternating; also with a long common beginning. */
async function measureRates(page: Page, { rows, rounds }: JobsOptions): Promise<void> {
  const short: RowsPlan = { template: SHORT, numRows: rows, maxNewTokens: 32, prefixCaching: true };
  const long = { ...short, template: LONG, numRows: Math.ceil(rows / 4) };
  const apart = { ...long, prefixCaching: false };
  const rates = {
    loop: new Array<number>(),
    job: new Array<number>(),
    shared: new Array<number>(),
    apart: new Array<number>(),
  };
  await page.evaluate(runJob, short);
  for (let round = 0; round < rounds; round += 1) {
    rates.loop.push(await page.evaluate(runClosedLoop, short));
    rates.job.push(await page.evaluate(runJob, short));
    rates.shared.push(await page.evaluate(runJob, long));
    rates.apart.push(await page.evaluate(runJob, apart));
  }
  const ratio = rates.job.map((rate, round) => rate / (rates.loop[round] ?? 0));
  console.log('| rows/s | median | min | max |\n| --- | ---: | ---: | ---: |');
  for (const [name, values] of [
    ['closed loop of as many requests as slots', rates.loop],
    ['job', rates.job],
    ['job ÷ closed loop of its round', ratio],
    ['job whose rows share 200 tokens', rates.shared],
    ['the same without prefix caching', rates.apart],
  ] as const) {
    const { median, min, max } = spreadOf(values);
    console.log(`| ${name} | ${median.toFixed(2)} | ${min.toFixed(2)} | ${max.toFixed(2)} |`);
  }
}

/** Time to the first token of prompts that someone types, idle and during a job, alternating. */
async function measureFirstTokens(page: Page, { rounds }: JobsOptions): Promise<void> {
  const idle: number[] = [];
  const busy: number[] = [];
  const steps: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    idle.push(
      ...(await page.evaluate(timeFirstTokens, { numPrompts: NUM_PROMPTS, template: undefined })).ttfts,
    );
    const during = await page.evaluate(timeFirstTokens, { numPrompts: NUM_PROMPTS, template: SHORT });
    busy.push(...during.ttfts);
    steps.push(...during.stepsMs);
  }
  console.log('\n| ms | p50 | p95 |\n| --- | ---: | ---: |');
  for (const [name, values] of [
    ['TTFT, idle', idle],
    ['TTFT, during a job that fills all slots', busy],
    ['a step of that job', steps],
  ] as const) {
    const { p50, p95 } = percentilesOf(values);
    console.log(`| ${name} | ${p50.toFixed(1)} | ${p95.toFixed(1)} |`);
  }
}

/** Memory of the page's process, which is also the worker's, over a job. */
async function measureMemory(browser: Browser, page: Page, rows: number): Promise<void> {
  const plan: RowsPlan = { template: SHORT, numRows: 5 * rows, maxNewTokens: 4, prefixCaching: true };
  const running = page.evaluate(runJob, plan);
  const samples: { readonly done: number; readonly bytes: number }[] = [];
  const watch = async (): Promise<void> => {
    for (let done = 0; done < plan.numRows;) {
      done = await page.evaluate(
        async () => (await window.tabserve.jobs.list())[0]?.info.counts.finished ?? Infinity,
      );
      const bytes = Math.max(...(await residentBytes(browser, 'renderer')));
      if (done < plan.numRows) samples.push({ done, bytes });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await Promise.all([running, watch()]);
  const within = (from: number, to: number): number => {
    const found = samples.filter(({ done }) => done >= from * plan.numRows && done < to * plan.numRows);
    return Math.max(0, ...found.map(({ bytes }) => bytes)) / MIB;
  };
  console.log(
    `\nPage and worker over ${plan.numRows} rows: ${within(0, 0.2).toFixed(0)} MiB in the first fifth, ` +
      `${within(0.8, 1).toFixed(0)} MiB in the last.`,
  );
}
