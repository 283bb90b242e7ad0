import type { Browser, Page, Worker } from 'playwright';

import type { GeneratedCheckpoint } from '../../../hub-server/checkpoints/generated-checkpoint.ts';
import { describeModel } from '../../conditions.ts';
import { loadedOf } from '../../open-ready.ts';
import { measureInPage } from '../measure.ts';
import type { StepCost, StepResources } from '../results.ts';
import { knobsOf, type Scenario } from '../scenarios.ts';
import { loadStandIn } from '../stand-in.ts';
import { spreadOf } from '../../statistics.ts';
import { countGpuCalls, countSubmits, gpuWorkerOf, readGpuCounts, type GpuCounts } from './gpu-calls.ts';
import { longLessShort, type RunTotals } from './long-less-short.ts';
import { DEEP_STAND_INS } from './stand-ins.ts';
import { withWorkerCpu } from './worker-cpu.ts';

const ROWS = [1, 8, 16];

/** Short, so that one step prefills the prompts of all rows, and all rows decode together from then on. */
const PROMPT = 'Once';

/** Prompt and output fit the smallest K/V cache, so that it does not grow between the runs. */
const LONG_TOKENS = 20;
const SHORT_TOKENS = 4;
/** Decode steps of a long run beyond those of a short one. */
export const NUM_MEASURED_STEPS = LONG_TOKENS - SHORT_TOKENS;
/** The calls are the same in each step, so a few steps are enough. */
const LONG_COUNTED_TOKENS = 12;

/** The two builds of the page, by how they run a decode step. */
export type StepKind = 'captured' | 'plain';
type EachKind<Value> = Readonly<Record<StepKind, Value>>;

/** A page with a model loaded, and the worker that runs it. */
interface Contender {
  readonly page: Page;
  readonly model: StepCost['model'];
  readonly worker: Worker;
}

type CpuCosts = Readonly<Record<'workerCpuMs' | 'gpuProcessCpuMs', number>>;
type GpuCosts = Omit<StepResources, keyof CpuCosts>;

export interface StepsPlan {
  readonly browser: Browser;
  readonly rounds: number;
  /** Opens the page of a build, ready to generate, in a context of its own. */
  readonly openPage: (kind: StepKind) => Promise<Page>;
}

/** Measures captured and plain steps in turns, model by model. */
export async function measureSteps(plan: StepsPlan): Promise<readonly StepCost[]> {
  const costs: StepCost[] = [];
  for (const [name, generate] of DEEP_STAND_INS) {
    const checkpoint = generate();
    const contenders = await eachKind(async (kind) => loadInto(await plan.openPage(kind), name, checkpoint));
    costs.push(...(await measureModel(plan, contenders)));
    await eachKind((kind) => contenders[kind].page.close());
  }
  return costs;
}

async function loadInto(page: Page, name: string, checkpoint: GeneratedCheckpoint): Promise<Contender> {
  const { model } = loadedOf(await loadStandIn(page, name, checkpoint));
  return { page, model: describeModel(model), worker: await gpuWorkerOf(page) };
}

/** Counts the calls last, in runs of their own: counting costs CPU time. */
async function measureModel(
  { browser, rounds }: StepsPlan,
  contenders: EachKind<Contender>,
): Promise<readonly StepCost[]> {
  const cpuRounds: (readonly EachKind<CpuCosts>[])[] = [];
  for (const numRows of ROWS) {
    // Warms up: shaders compile, buffers are created and scripts optimized before the first round.
    await eachKind((kind) => runRows(contenders[kind], numRows, LONG_COUNTED_TOKENS));
    cpuRounds.push(await measureCpu(browser, contenders, { numRows, rounds }));
  }
  await eachKind(async (kind) => {
    const { worker } = contenders[kind];
    await worker.evaluate(countSubmits);
    await worker.evaluate(countGpuCalls);
  });
  const costs: StepCost[] = [];
  for (const [index, numRows] of ROWS.entries()) {
    const cpu = cpuRounds[index] ?? [];
    const gpu = await eachKind((kind) => measureGpuCalls(contenders[kind], numRows));
    const resourcesOf = (kind: StepKind): StepResources => ({
      ...gpu[kind],
      workerCpuMs: spreadOf(cpu.map((round) => round[kind].workerCpuMs)),
      gpuProcessCpuMs: spreadOf(cpu.map((round) => round[kind].gpuProcessCpuMs)),
    });
    costs.push({
      model: contenders.captured.model,
      numRows,
      captured: resourcesOf('captured'),
      plain: resourcesOf('plain'),
      cpuRatio: spreadOf(cpu.map(({ captured, plain }) => captured.workerCpuMs / plain.workerCpuMs)),
    });
  }
  return costs;
}

async function measureCpu(
  browser: Browser,
  contenders: EachKind<Contender>,
  { numRows, rounds }: { readonly numRows: number; readonly rounds: number },
): Promise<readonly EachKind<CpuCosts>[]> {
  const measured: EachKind<CpuCosts>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const runAll = (maxNewTokens: number): Promise<EachKind<RunTotals<keyof CpuCosts>>> =>
      eachKind((kind) => measureCpuOfRun(browser, contenders[kind], { numRows, maxNewTokens }));
    const short = await runAll(SHORT_TOKENS);
    const long = await runAll(LONG_TOKENS);
    const costs = await eachKind((kind) => {
      const perStep = longLessShort(long[kind], short[kind]);
      return { workerCpuMs: perStep('workerCpuMs'), gpuProcessCpuMs: perStep('gpuProcessCpuMs') };
    });
    measured.push(costs);
    const [captured, plain] = [costs.captured.workerCpuMs.toFixed(2), costs.plain.workerCpuMs.toFixed(2)];
    console.log(`round ${round}: ${numRows} rows: CPU per step ${captured} ms captured, ${plain} ms plain`);
  }
  return measured;
}

async function measureCpuOfRun(
  browser: Browser,
  contender: Contender,
  { numRows, maxNewTokens }: { readonly numRows: number; readonly maxNewTokens: number },
): Promise<RunTotals<keyof CpuCosts>> {
  const before = await gpuProcessSecondsOf(browser);
  const { result: numSteps, cpuMs } = await withWorkerCpu(browser, contender.worker, () =>
    runRows(contender, numRows, maxNewTokens),
  );
  const gpuProcessCpuMs = 1000 * ((await gpuProcessSecondsOf(browser)) - before);
  return { numSteps, workerCpuMs: cpuMs, gpuProcessCpuMs };
}

async function measureGpuCalls(contender: Contender, numRows: number): Promise<GpuCosts> {
  // With other rows than the run before, the first run records its steps. Neither of the two that are compared may.
  await runRows(contender, numRows, SHORT_TOKENS);
  const short = await countCallsOfRun(contender, numRows, SHORT_TOKENS);
  const long = await countCallsOfRun(contender, numRows, LONG_COUNTED_TOKENS);
  const perStep = longLessShort(long, short);
  return {
    dispatches: perStep('numDispatches'),
    submits: perStep('numSubmits'),
    buffersCreated: perStep('numBuffersCreated'),
    bytesRead: perStep('numBytesRead'),
    // A difference of two runs: if the device is idle hardly ever, or nearly always, it may leave the range.
    gpuIdleShare: Math.min(1, Math.max(0, perStep('idleMs') / perStep('wallMs'))),
  };
}

async function countCallsOfRun(
  contender: Contender,
  numRows: number,
  maxNewTokens: number,
): Promise<RunTotals<keyof GpuCounts | 'wallMs'>> {
  const before = await contender.worker.evaluate(readGpuCounts);
  const startedAtMs = performance.now();
  const numSteps = await runRows(contender, numRows, maxNewTokens);
  const wallMs = performance.now() - startedAtMs;
  const after = await contender.worker.evaluate(readGpuCounts);
  return {
    numSteps,
    wallMs,
    numDispatches: after.numDispatches - before.numDispatches,
    numSubmits: after.numSubmits - before.numSubmits,
    numBuffersCreated: after.numBuffersCreated - before.numBuffersCreated,
    numBytesRead: after.numBytesRead - before.numBytesRead,
    idleMs: after.idleMs - before.idleMs,
  };
}

/** Returns the number of decode steps, all of which have all rows. */
async function runRows({ page }: Contender, numRows: number, maxNewTokens: number): Promise<number> {
  const scenario: Scenario = { policy: 'continuous', numRequests: numRows };
  const options = { temperature: 0, maxNewTokens, ignoreEos: true };
  const requests = Array.from({ length: numRows }, () => ({ prompt: PROMPT, options }));
  const { decodeSteps } = await page.evaluate(measureInPage, {
    knobs: knobsOf(scenario),
    requests,
    leastMs: 0,
  });
  const partial = decodeSteps.find(({ batchSize }) => batchSize !== numRows);
  if (partial) throw new Error(`Expected ${numRows} rows in each decode step, got ${partial.batchSize}`);
  return decodeSteps.length;
}

/** CPU seconds so far of the process that talks to the GPU, or computes for it. */
async function gpuProcessSecondsOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'GPU').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Runs one after the other, because parallel runs disturb the figures. */
async function eachKind<Value>(of: (kind: StepKind) => Value | Promise<Value>): Promise<EachKind<Value>> {
  const captured = await of('captured');
  return { captured, plain: await of('plain') };
}
