import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright';

import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { READY_TEMPLATES } from '../../../src/ui/jobs/ready-templates.ts';
import { createSampleFile } from '../../../src/ui/jobs/sample-file.ts';
import { choicesOf } from '../../../src/ui/shapes/typed-shape.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { collectedHeaps, type CollectedHeaps } from '../collected-heaps.ts';
import { parseBackend, parseCount } from '../command-line.ts';
import { conditionsOf, machineText } from '../conditions.ts';
import { fillLists, LISTS } from '../fill-lists.ts';
import { openReady } from '../open-ready.ts';
import { residentBytes } from '../process-memory.ts';
import { loadSmollm2, startSmollm2Hub } from '../smollm2.ts';
import { percentilesOf, spreadOf } from '../statistics.ts';
import { withBrowser } from '../with-browser.ts';
import {
  labelTexts,
  runClosedLoop,
  runJob,
  timeFirstTokens,
  type FirstTokens,
  type RowsPlan,
} from './in-page.ts';

interface JobsOptions {
  readonly backend: 'webgpu' | 'wasm';
  readonly rows: number;
  readonly rounds: number;
  readonly model: 'storyteller' | 'smollm2';
}

const USAGE = `\
  --model NAME    storyteller (default); smollm2: rows per second of labels, by a job and one by one
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
        model: { type: 'string', default: 'storyteller' },
      },
    });
    const { model } = values;
    if (model !== 'storyteller' && model !== 'smollm2')
      throw new Error(`Expected --model to be storyteller or smollm2, got ${model}.`);
    return {
      model,
      backend: parseBackend(values.backend),
      rows: parseCount('--rows', values.rows),
      rounds: parseCount('--rounds', values.rounds),
    };
  },
  async (options) => {
    const { backend, rows, rounds, model } = options;
    const hub = model === 'smollm2' ? await startSmollm2Hub() : undefined;
    const policy = contentSecurityPolicy(hub ? [hub.url] : []);
    const site = { root: await buildPage(), args: WEBGPU_ARGUMENTS, policy };
    const measure = withBrowser(site, async ({ browser, version, url }) => {
      const command = `jobs --model ${model} --backend ${backend} --rows ${rows} --rounds ${rounds}`;
      console.log(`${version}, ${machineText(conditionsOf(command, version))}\n`);
      const address = `${url}?backend=${backend}`;
      await withProfile(async (context) => {
        const { page } = await openReady(context, address);
        if (hub) await measureLabels(page, hub.url, options);
        else {
          await measureRates(page, options);
          await measureFirstTokens(page, options);
        }
      });
      if (!hub) await measureMemory(browser, (await openReady(browser, address)).page, rows);
    });
    try {
      await measure;
    } finally {
      await hub?.close();
    }
  },
);

/** A profile on disk, as people have it. In an incognito window each write to its storage asks another process, for 0.5 ms. */
async function withProfile(run: (context: BrowserContext) => Promise<void>): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'tabserve-bench-'));
  const { path: executablePath } = await findBrowser();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...WEBGPU_ARGUMENTS],
  });
  try {
    await run(context);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

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
  const longTasksMs: number[] = [];
  const rateOf = async (plan: RowsPlan): Promise<number> => (await page.evaluate(runJob, plan)).rate;
  await rateOf(short);
  for (let round = 0; round < rounds; round += 1) {
    rates.loop.push(await page.evaluate(runClosedLoop, short));
    const job = await page.evaluate(runJob, short);
    rates.job.push(job.rate);
    longTasksMs.push(...job.longTasksMs);
    rates.shared.push(await rateOf(long));
    rates.apart.push(await rateOf(apart));
  }
  const ratio = rates.job.map((rate, round) => rate / (rates.loop[round] ?? 0));
  console.log('| rows/s | median | min | max |\n| --- | ---: | ---: | ---: |');
  for (const [name, values] of [
    ['closed loop of as many requests as slots', rates.loop],
    ['job', rates.job],
    ['job ÷ closed loop of its round', ratio],
    ['job whose rows share 200 tokens', rates.shared],
    ['the same without prefix caching', rates.apart],
  ] as const)
    console.log(rowOf(name, values));
  const longest = Math.max(0, ...longTasksMs);
  console.log(
    `\n${longTasksMs.length} tasks of the page over 50 ms in ${rounds} jobs; the longest ${longest.toFixed(0)} ms.`,
  );
}

/** Time to the first token of prompts that someone types, idle and during a job, alternating. */
async function measureFirstTokens(page: Page, { rounds }: JobsOptions): Promise<void> {
  const [idle, busy]: [FirstTokens[], FirstTokens[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    idle.push(await page.evaluate(timeFirstTokens, { numPrompts: NUM_PROMPTS, template: undefined }));
    busy.push(await page.evaluate(timeFirstTokens, { numPrompts: NUM_PROMPTS, template: SHORT }));
  }
  console.log('\n| ms | p50 | p95 |\n| --- | ---: | ---: |');
  for (const [name, values] of [
    ['TTFT in the worker, idle', idle.flatMap(({ inWorker }) => inWorker)],
    ['TTFT in the worker, during a job that fills all slots', busy.flatMap(({ inWorker }) => inWorker)],
    ['TTFT in the page, idle', idle.flatMap(({ inPage }) => inPage)],
    ['TTFT in the page, during that job', busy.flatMap(({ inPage }) => inPage)],
    ['a step of that job', busy.flatMap(({ steps }) => steps)],
  ] as const) {
    const { p50, p95 } = percentilesOf(values);
    console.log(`| ${name} | ${p50.toFixed(1)} | ${p95.toFixed(1)} |`);
  }
}

/** Labels of a real model, at most as many as the sample file has rows. */
async function measureLabels(page: Page, hub: string, { rows, rounds }: JobsOptions): Promise<void> {
  await loadSmollm2(page, hub, 'q8');
  const [, ...lines] = (await createSampleFile().text()).trim().split('\n');
  const texts = lines.slice(0, rows).map((line) => line.slice(line.lastIndexOf(',"') + 2, -1));
  const ready = READY_TEMPLATES.find(({ shape }) => shape.kind === 'choice');
  if (!ready) throw new Error('No template has choices.');
  const { system, shape, templateFor } = ready;
  const plan = { texts, system, template: templateFor('text'), choices: choicesOf(shape.body) };
  await page.evaluate(labelTexts, { ...plan, texts: texts.slice(0, 16) });
  const measured = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await page.evaluate(labelTexts, plan));
  console.log(`| ${texts.length} labels, rows/s | median | min | max |\n| --- | ---: | ---: | ---: |`);
  for (const [name, values] of [
    ['job', measured.map(({ job }) => job)],
    ['one by one', measured.map(({ oneByOne }) => oneByOne)],
    ['job ÷ one by one of its round', measured.map(({ job, oneByOne }) => job / oneByOne)],
  ] as const)
    console.log(rowOf(name, values));
  const numEqual = Math.min(...measured.map((labels) => labels.numEqual));
  console.log(`\nBoth gave the same label to at least ${numEqual} of ${texts.length} rows.`);
}

/** What page and worker keep over a job, and the process of both. */
async function measureMemory(browser: Browser, page: Page, rows: number): Promise<void> {
  const plan: RowsPlan = { template: SHORT, numRows: 5 * rows, maxNewTokens: 4, prefixCaching: true };
  const samples: (CollectedHeaps & { readonly done: number; readonly process: number })[] = [];
  await page.evaluate(fillLists, LISTS);
  const job = { isOver: false };
  const running = page.evaluate(runJob, plan).finally(() => (job.isOver = true));
  while (!job.isOver) {
    const heaps = await collectedHeaps(page);
    const bytes = Math.max(...(await residentBytes(browser, 'renderer')));
    const done = await page.evaluate(
      async () => (await window.tabserve.jobs.list())[0]?.info.counts.finished ?? 0,
    );
    samples.push({ ...heaps, process: bytes, done });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await running;
  console.log(
    `\n| MiB after a garbage collection, ${plan.numRows} rows, all lists full before | first fifth | last fifth |\n| --- | ---: | ---: |`,
  );
  for (const [name, part] of [
    ['heap of the page', 'page'],
    ['heap of the worker', 'workers'],
    ['their process', 'process'],
  ] as const) {
    const [first, last] = [0, 0.8].map((from) => {
      const within = samples.filter(
        ({ done }) => done > from * plan.numRows && done < (from + 0.2) * plan.numRows,
      );
      return (Math.max(...within.map((sample) => sample[part])) / MIB).toFixed(1);
    });
    console.log(`| ${name} | ${first} | ${last} |`);
  }
}

function rowOf(name: string, values: readonly number[]): string {
  const { median, min, max } = spreadOf(values);
  return `| ${name} | ${median.toFixed(2)} | ${min.toFixed(2)} | ${max.toFixed(2)} |`;
}
