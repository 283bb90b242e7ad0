import type { Browser, Page, Worker } from 'playwright';

import type { DecodeResources } from './results.ts';

/** What WebGPU was asked for since the counting began. */
interface GpuCounts {
  readonly numDispatches: number;
  readonly numSubmits: number;
  readonly numBuffersCreated: number;
  readonly numBytesRead: number;
  /** Time in which nothing was submitted that the device had not finished. */
  readonly idleMs: number;
}

declare global {
  /** In the worker, once it counts. */
  var gpuCounts: (() => GpuCounts) | undefined;
}

const LONG_TOKENS = 72;
const SHORT_TOKENS = 8;

/** Runs requests to this many new tokens each; returns the number of decode steps. */
export type RunRequests = (maxNewTokens: number) => Promise<number>;

/**
 * What a decode step costs: a long run less a short one of the same prompts, so that prefill cancels out. The calls are
 * counted inside the product's own worker, onnxruntime-web's included.
 */
export async function measureResources(
  browser: Browser,
  page: Page,
  run: RunRequests,
): Promise<DecodeResources> {
  const worker = await gpuWorkerOf(page);
  await worker.evaluate(countGpuCalls);
  const measure = async (maxNewTokens: number) => {
    const before = await cpuSecondsOf(browser);
    const countsBefore = await worker.evaluate(readCounts);
    const startedAtMs = performance.now();
    const numSteps = await run(maxNewTokens);
    const wallMs = performance.now() - startedAtMs;
    const counts = await worker.evaluate(readCounts);
    const after = await cpuSecondsOf(browser);
    return {
      numSteps,
      wallMs,
      rendererMs: 1000 * (after.renderer - before.renderer),
      gpuProcessMs: 1000 * (after.gpu - before.gpu),
      numDispatches: counts.numDispatches - countsBefore.numDispatches,
      numSubmits: counts.numSubmits - countsBefore.numSubmits,
      numBuffersCreated: counts.numBuffersCreated - countsBefore.numBuffersCreated,
      numBytesRead: counts.numBytesRead - countsBefore.numBytesRead,
      idleMs: counts.idleMs - countsBefore.idleMs,
    };
  };
  await run(LONG_TOKENS);
  const short = await measure(SHORT_TOKENS);
  const long = await measure(LONG_TOKENS);
  const numSteps = long.numSteps - short.numSteps;
  const perStep = (of: (run: typeof long) => number): number => (of(long) - of(short)) / numSteps;
  return {
    numSteps,
    dispatches: perStep((measured) => measured.numDispatches),
    submits: perStep((measured) => measured.numSubmits),
    buffersCreated: perStep((measured) => measured.numBuffersCreated),
    bytesRead: perStep((measured) => measured.numBytesRead),
    rendererCpuMs: perStep((measured) => measured.rendererMs),
    gpuProcessCpuMs: perStep((measured) => measured.gpuProcessMs),
    // Of a long run less a short one the difference can come out below nothing.
    gpuIdleShare: Math.max(
      0,
      perStep((measured) => measured.idleMs) / perStep((measured) => measured.wallMs),
    ),
  };
}

async function gpuWorkerOf(page: Page): Promise<Worker> {
  for (const worker of page.workers()) {
    // onnxruntime-web may have threads of its own.
    if (await worker.evaluate(() => self.name === 'tabserve')) return worker;
  }
  throw new Error('The page has no worker that runs the model');
}

/** Runs in the worker: it is sent there as text. */
function countGpuCalls(): void {
  const counts = { numDispatches: 0, numSubmits: 0, numBuffersCreated: 0, numBytesRead: 0, idleMs: 0 };
  let numPending = 0;
  let idleSinceMs = performance.now();
  const pass = GPUComputePassEncoder.prototype;
  const onDone = (): undefined => {
    numPending -= 1;
    if (numPending === 0) idleSinceMs = performance.now();
  };
  // oxlint-disable typescript/unbound-method -- each is called with its own object
  const { dispatchWorkgroups, dispatchWorkgroupsIndirect } = pass;
  const { submit } = GPUQueue.prototype;
  const { createBuffer } = GPUDevice.prototype;
  const { mapAsync } = GPUBuffer.prototype;
  // oxlint-enable typescript/unbound-method
  pass.dispatchWorkgroups = function counted(...args) {
    counts.numDispatches += 1;
    return dispatchWorkgroups.apply(this, args);
  };
  pass.dispatchWorkgroupsIndirect = function counted(...args) {
    counts.numDispatches += 1;
    return dispatchWorkgroupsIndirect.apply(this, args);
  };
  GPUDevice.prototype.createBuffer = function counted(descriptor) {
    counts.numBuffersCreated += 1;
    return createBuffer.call(this, descriptor);
  };
  GPUBuffer.prototype.mapAsync = function counted(mode, offset, size) {
    counts.numBytesRead += size ?? this.size;
    return mapAsync.call(this, mode, offset, size);
  };
  GPUQueue.prototype.submit = function counted(buffers) {
    counts.numSubmits += 1;
    if (numPending === 0) counts.idleMs += performance.now() - idleSinceMs;
    numPending += 1;
    submit.call(this, buffers);
    void this.onSubmittedWorkDone().then(onDone);
    return undefined;
  };
  globalThis.gpuCounts = () => ({ ...counts });
}

function readCounts(): GpuCounts {
  if (!globalThis.gpuCounts) throw new Error('Nothing is counted here');
  return globalThis.gpuCounts();
}

/** CPU seconds so far: of all pages and their workers, and of the process that talks to the GPU (or computes for it). */
async function cpuSecondsOf(browser: Browser): Promise<{ readonly renderer: number; readonly gpu: number }> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const secondsOf = (type: string): number =>
    processInfo.filter((info) => info.type === type).reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  return { renderer: secondsOf('renderer'), gpu: secondsOf('GPU') };
}
