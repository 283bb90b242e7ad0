import type { Page } from 'playwright';
import { build } from 'vite';

import { startServer } from '../../../bridge/server.ts';
import type { BackendInfo } from '../../../src/protocol/models.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { conditionsOf, describeModel } from '../conditions.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import { pathOf } from '../paths.ts';
import { loadSmollm2, startSmollm2Hub } from '../smollm2.ts';
import { withBrowser } from '../with-browser.ts';
import { measureInPage, type Measurement } from './measure.ts';
import { parseOptions, USAGE, type BenchOptions } from './options.ts';
import { measureRealModel } from './real-model/measure-real-model.ts';
import { realModelReportOf } from './real-model/report.ts';
import { reportOf } from './report.ts';
import {
  recordPart,
  recordRun,
  RESULTS,
  type BenchRun,
  type ContextResult,
  type StandInResult,
  type StepCostRun,
  type ThreadsRun,
} from './results.ts';
import {
  COMPARED_SIZE,
  CONTEXT_LENGTHS,
  knobsOf,
  longRequestsOf,
  requestsOf,
  SCENARIOS,
  STAND_IN_SCENARIOS,
  SUSTAINED_MS,
  type Scenario,
} from './scenarios.ts';
import { measureShapedRows } from './shaped-rows/measure-shaped-rows.ts';
import { shapedRowsReportOf } from './shaped-rows/report.ts';
import { llamaStandIn, loadStandIn } from './stand-in.ts';
import { measureSteps, NUM_MEASURED_STEPS, type StepKind } from './step-costs/measure-steps.ts';
import { stepCostsReportOf } from './step-costs/report.ts';
import { measureThreads } from './threads/measure-threads.ts';
import { threadsReportOf } from './threads/report.ts';
import { compareToOff, ratioToOff, summarizeContext, summarizeScenario, type Measured } from './summarize.ts';

const COMPARED: Scenario = { policy: 'continuous', numRequests: COMPARED_SIZE };
const PLAIN_PAGE = pathOf('dist-plain-steps');

export const bench = defineBench(USAGE, parseOptions, (options) =>
  options.isMarkdown ? printRecorded() : measureAndRecord(options),
);

async function printRecorded(): Promise<void> {
  const { runs, stepCosts, threads, realModel } = await RESULTS.read();
  const reports = [
    ...Object.values(runs).map(reportOf),
    ...(stepCosts ? [stepCostsReportOf(stepCosts)] : []),
    ...(threads ? [threadsReportOf(threads)] : []),
    ...(realModel ? [realModelReportOf(realModel)] : []),
  ];
  console.log(reports.join('\n\n') || 'Nothing is recorded: run `npm run bench` first.');
}

async function measureAndRecord(chosen: BenchOptions): Promise<void> {
  const root = await buildPage();
  if (chosen.isShapesOnly) {
    await measureShapes(root, chosen);
    return;
  }
  if (chosen.model === 'smollm2') {
    const realModel = await measureRealModel(root, chosen);
    console.log(`\n${realModelReportOf(realModel)}\n\nRecorded in ${await recordPart({ realModel })}`);
    return;
  }
  if (!chosen.isStepsOnly && !chosen.isThreadsOnly) {
    const run = await measureInBrowser(root, chosen);
    console.log(`\n${reportOf(run)}\n\n${await recordIfTrue(run)}`);
  }
  if (chosen.backend === 'wasm') {
    const threads = await measureThreadsInBrowser(root, chosen);
    console.log(`\n${threadsReportOf(threads)}\n\nRecorded in ${await recordPart({ threads })}`);
    return;
  }
  await build({ root: pathOf(''), logLevel: 'warn', mode: 'plain-steps', build: { outDir: PLAIN_PAGE } });
  const stepCosts = await measureStepsInBrowser(root, chosen);
  console.log(`\n${stepCostsReportOf(stepCosts)}\n\nRecorded in ${await recordPart({ stepCosts })}`);
}

/** Prints a table for the embedded model, or for each precision of the real one. */
async function measureShapes(root: string, chosen: BenchOptions): Promise<void> {
  const { model: name, backend, dtypes, rounds, maxNewTokens } = chosen;
  const hub = name === 'smollm2' ? await startSmollm2Hub() : undefined;
  const policy = hub && contentSecurityPolicy([hub.url]);
  await withBrowser({ root, args: WEBGPU_ARGUMENTS, ...(policy && { policy }) }, async ({ browser, url }) => {
    for (const dtype of hub ? dtypes : [undefined]) {
      const { page, status } = await openReady(await browser.newContext(), `${url}/?backend=${backend}`);
      const { model } = loadedOf(hub && dtype ? await loadSmollm2(page, hub.url, dtype) : status);
      const results = await measureShapedRows(page, rounds, maxNewTokens);
      console.log(`\n${shapedRowsReportOf(model, dtype, results)}\n`);
      await page.context().close();
    }
  });
  await hub?.close();
}

/** The rates of a software adapter are left out, because a page runs on one only on request. */
async function recordIfTrue(run: BenchRun): Promise<string> {
  if (run.backend.isSoftwareAdapter) return 'Not recorded: the adapter computes on the CPU.';
  return `Recorded in ${await recordRun(run)}`;
}

/** Measures the pages of both builds in one browser. */
function measureStepsInBrowser(root: string, { rounds }: BenchOptions): Promise<StepCostRun> {
  return withBrowser({ root, args: WEBGPU_ARGUMENTS }, async ({ browser, version, url }) => {
    const conditions = conditionsOf(`--backend webgpu --steps --rounds ${rounds}`, version);
    const plain = await startServer({ host: 'localhost', port: 0, root: PLAIN_PAGE });
    const urls: Readonly<Record<StepKind, string>> = { captured: url, plain: plain.url };
    let backend: BackendInfo | undefined;
    try {
      const openPage = async (kind: StepKind): Promise<Page> => {
        const opened = await openReady(browser, `${urls[kind]}/?backend=webgpu`);
        ({ backend } = loadedOf(opened.status));
        return opened.page;
      };
      const costs = await measureSteps({ browser, rounds, openPage });
      if (!backend) throw new Error('No page was opened.');
      return {
        ...conditions,
        backend,
        settings: { rounds, numSteps: NUM_MEASURED_STEPS },
        costs,
      };
    } finally {
      await plain.close();
    }
  });
}

function measureThreadsInBrowser(root: string, { rounds }: BenchOptions): Promise<ThreadsRun> {
  return withBrowser({ root, args: WEBGPU_ARGUMENTS }, async ({ browser, version, url }) => {
    const conditions = conditionsOf(`--threads --rounds ${rounds}`, version);
    const openPage = async (prepare: (page: Page) => Promise<void>): Promise<Page> =>
      (await openReady(browser, `${url}/?backend=wasm`, prepare)).page;
    return { ...conditions, settings: { rounds }, results: await measureThreads(openPage, rounds) };
  });
}

function measureInBrowser(root: string, chosen: BenchOptions): Promise<BenchRun> {
  const { backend: name, rounds, maxNewTokens } = chosen;
  return withBrowser({ root, args: WEBGPU_ARGUMENTS }, async ({ browser, version, url }) => {
    const { page, status } = await openReady(browser, `${url}/?backend=${name}`);
    const { backend, model } = loadedOf(status);
    const command = `--backend ${name} --rounds ${rounds} --max-new-tokens ${maxNewTokens}`;
    const conditions = conditionsOf(command, version);
    const measured = await measureAll(page, SCENARIOS, chosen);
    const contexts = await sweepContexts(page, chosen);
    const standIn = await measureStandIn(page, chosen);
    return {
      ...conditions,
      backend,
      model: describeModel(model),
      settings: { rounds, maxNewTokens },
      scenarios: measured.map(summarizeScenario),
      ratiosToOff: compareToOff(measured),
      contexts,
      standIn,
    };
  });
}

/** Measures all scenarios in each round, so that disturbances of the machine affect all alike. */
async function measureAll(
  page: Page,
  scenarios: readonly Scenario[],
  chosen: BenchOptions,
): Promise<readonly Measured[]> {
  const rounds: Measurement[][] = scenarios.map(() => []);
  for (let round = 1; round <= chosen.rounds; round++) {
    for (const [index, scenario] of scenarios.entries()) {
      const measurement = await measure(page, scenario, chosen.maxNewTokens);
      rounds[index]?.push(measurement);
      logProgress(round, scenario, measurement);
    }
  }
  return scenarios.map((scenario, index) => ({ scenario, rounds: rounds[index] ?? [] }));
}

/** Call it last: the stand-in takes the place of the page's own model. */
async function measureStandIn(page: Page, chosen: BenchOptions): Promise<StandInResult> {
  const { model } = loadedOf(await loadStandIn(page, 'llama-stand-in', llamaStandIn()));
  const measured = await measureAll(page, STAND_IN_SCENARIOS, chosen);
  return {
    model: describeModel(model),
    scenarios: measured.map(summarizeScenario),
    ratioToOff: ratioToOff(measured, 'continuous'),
  };
}

/** Eight sequences at growing lengths. */
async function sweepContexts(page: Page, { rounds }: BenchOptions): Promise<readonly ContextResult[]> {
  const measured: Measurement[][] = CONTEXT_LENGTHS.map(() => []);
  const knobs = knobsOf(COMPARED);
  for (let round = 1; round <= rounds; round++) {
    for (const [index, contextLength] of CONTEXT_LENGTHS.entries()) {
      const requests = longRequestsOf(contextLength);
      measured[index]?.push(await page.evaluate(measureInPage, { knobs, requests, leastMs: SUSTAINED_MS }));
      console.log(`round ${round}: 8 requests that grow to ${contextLength} tokens`);
    }
  }
  return measured.map(summarizeContext);
}

/** A short run of the same shape goes first: it compiles the shaders and makes room in the KV cache. */
async function measure(page: Page, scenario: Scenario, maxNewTokens: number): Promise<Measurement> {
  const knobs = knobsOf(scenario);
  await page.evaluate(measureInPage, { knobs, requests: requestsOf(scenario, 3), leastMs: 0 });
  const requests = requestsOf(scenario, maxNewTokens);
  return page.evaluate(measureInPage, { knobs, requests, leastMs: SUSTAINED_MS });
}

function logProgress(round: number, { policy, numRequests }: Scenario, measurement: Measurement): void {
  const { numOutputTokens, wallMs } = measurement;
  const seconds = (wallMs / 1000).toFixed(2);
  console.log(
    `round ${round}: ${policy}, ${numRequests} requests: ${numOutputTokens} tokens in ${seconds} s`,
  );
}
