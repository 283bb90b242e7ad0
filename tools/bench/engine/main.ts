import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright';
import { build } from 'vite';

import { startServer } from '../../../bridge/server.ts';
import type { BackendInfo } from '../../../src/protocol/models.ts';
import type { ServeStatus } from '../../../src/protocol/status.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import { withBrowser } from '../with-browser.ts';
import { readOptions } from '../command-line.ts';
import { describeModel } from '../describe-model.ts';
import { describeMachine } from '../machine.ts';
import { measureInPage, type Measurement } from './measure.ts';
import { parseOptions, USAGE, type BenchOptions } from './options.ts';
import { reportOf } from './report.ts';
import {
  readResults,
  recordRun,
  recordStepCosts,
  recordThreads,
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
import { llamaStandIn, loadStandIn } from './stand-in.ts';
import { measureSteps, NUM_MEASURED_STEPS, type StepKind } from './step-costs/measure-steps.ts';
import { stepCostsReportOf } from './step-costs/report.ts';
import { measureThreads } from './threads/measure-threads.ts';
import { threadsReportOf } from './threads/report.ts';
import { compareToOff, ratioToOff, summarizeContext, summarizeScenario, type Measured } from './summarize.ts';

const COMPARED: Scenario = { policy: 'continuous', numRequests: COMPARED_SIZE };
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PLAIN_PAGE = `${ROOT}/dist-plain-steps`;

const options = readOptions(parseOptions, USAGE);
if (options?.isMarkdown) await printRecorded();
else if (options) await measureAndRecord(options);

async function printRecorded(): Promise<void> {
  const { runs, stepCosts, threads } = await readResults();
  const reports = [
    ...Object.values(runs).map(reportOf),
    ...(stepCosts ? [stepCostsReportOf(stepCosts)] : []),
    ...(threads ? [threadsReportOf(threads)] : []),
  ];
  console.log(reports.join('\n\n') || 'Nothing is recorded: run `npm run bench` first.');
}

async function measureAndRecord(chosen: BenchOptions): Promise<void> {
  await build({ root: ROOT, logLevel: 'warn' });
  if (!chosen.isStepsOnly && !chosen.isThreadsOnly) {
    const run = await measureInBrowser(chosen);
    console.log(`\n${reportOf(run)}\n\n${await recordIfTrue(run)}`);
  }
  if (chosen.backend === 'wasm') {
    const threads = await measureThreadsInBrowser(chosen);
    console.log(`\n${threadsReportOf(threads)}\n\nRecorded in ${await recordThreads(threads)}`);
    return;
  }
  await build({ root: ROOT, logLevel: 'warn', mode: 'plain-steps', build: { outDir: PLAIN_PAGE } });
  const stepCosts = await measureStepsInBrowser(chosen);
  console.log(`\n${stepCostsReportOf(stepCosts)}\n\nRecorded in ${await recordStepCosts(stepCosts)}`);
}

/** The rates of a software adapter are nobody's: no page runs on one that doesn't ask for it. */
async function recordIfTrue(run: BenchRun): Promise<string> {
  if (run.backend.isSoftwareAdapter) return 'Not recorded: the adapter computes on the CPU.';
  return `Recorded in ${await recordRun(run)}`;
}

/** Measures the pages of both builds in one browser. */
function measureStepsInBrowser({ rounds }: BenchOptions): Promise<StepCostRun> {
  return withBrowser({ root: `${ROOT}/dist`, args: WEBGPU_ARGUMENTS }, async ({ browser, version, url }) => {
    const plain = await startServer({ host: 'localhost', port: 0, root: PLAIN_PAGE });
    const urls: Readonly<Record<StepKind, string>> = { captured: url, plain: plain.url };
    const startedAt = new Date().toISOString();
    let backend: BackendInfo | undefined;
    try {
      const openPage = async (kind: StepKind): Promise<Page> => {
        const opened = await openReady(browser, `${urls[kind]}/?backend=webgpu`);
        ({ backend } = opened.status);
        return opened.page;
      };
      const costs = await measureSteps({ browser, rounds, openPage });
      if (!backend) throw new Error('The page is ready but names no backend');
      const command = `npm run bench -- --backend webgpu --steps --rounds ${rounds}`;
      return {
        startedAt,
        command,
        machine: describeMachine(),
        browser: version,
        backend,
        settings: { rounds, numSteps: NUM_MEASURED_STEPS },
        costs,
      };
    } finally {
      await plain.close();
    }
  });
}

function measureThreadsInBrowser({ rounds }: BenchOptions): Promise<ThreadsRun> {
  return withBrowser({ root: `${ROOT}/dist`, args: WEBGPU_ARGUMENTS }, async ({ browser, version, url }) => {
    const startedAt = new Date().toISOString();
    const openPage = async (prepare: (page: Page) => Promise<void>): Promise<Page> =>
      (await openReady(browser, `${url}/?backend=wasm`, prepare)).page;
    const results = await measureThreads(openPage, rounds);
    const command = `npm run bench -- --threads --rounds ${rounds}`;
    return {
      startedAt,
      command,
      machine: describeMachine(),
      browser: version,
      settings: { rounds },
      results,
    };
  });
}

function measureInBrowser(chosen: BenchOptions): Promise<BenchRun> {
  return withBrowser({ root: `${ROOT}/dist`, args: WEBGPU_ARGUMENTS }, async ({ browser, version, url }) => {
    const { page, status } = await openReady(browser, `${url}/?backend=${chosen.backend}`);
    const startedAt = new Date().toISOString();
    const measured = await measureAll(page, SCENARIOS, chosen);
    const contexts = await sweepContexts(page, chosen);
    const standIn = await measureStandIn(page, chosen);
    return {
      startedAt,
      browser: version,
      ...describeConditions(status, chosen),
      ...summarize(measured),
      contexts,
      standIn,
    };
  });
}

/** @param prepare Called before the page is opened. */
async function openReady(
  browser: Browser,
  url: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<{ page: Page; status: ServeStatus }> {
  const page = await browser.newPage();
  await prepare?.(page);
  await page.goto(url);
  await page.waitForFunction(() => 'tabserve' in window);
  return { page, status: await page.evaluate(() => window.tabserve.ready()) };
}

/** Round by round through all scenarios, so that what disturbs the machine disturbs them alike. */
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

/** Last, since the stand-in takes the place of the page's own model. */
async function measureStandIn(page: Page, chosen: BenchOptions): Promise<StandInResult> {
  const { model } = await loadStandIn(page, 'llama-stand-in', llamaStandIn());
  if (!model) throw new Error('The stand-in is loaded but the page names no model');
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

function describeConditions({ backend, model }: ServeStatus, chosen: BenchOptions) {
  if (!backend || !model) throw new Error('The page is ready but names no backend or model');
  const { rounds, maxNewTokens } = chosen;
  return {
    command: `npm run bench -- --backend ${chosen.backend} --rounds ${rounds} --max-new-tokens ${maxNewTokens}`,
    machine: describeMachine(),
    backend,
    model: describeModel(model),
    settings: { rounds, maxNewTokens },
  };
}

function summarize(measured: readonly Measured[]): Pick<BenchRun, 'scenarios' | 'ratiosToOff'> {
  return { scenarios: measured.map(summarizeScenario), ratiosToOff: compareToOff(measured) };
}
