import type { Page, Worker } from 'playwright';

/** WebGPU calls since counting began. */
export interface GpuCounts {
  readonly numDispatches: number;
  readonly numSubmits: number;
  readonly numBuffersCreated: number;
  readonly numBytesRead: number;
  /** Time in which the device had finished everything that was submitted. */
  readonly idleMs: number;
}

declare global {
  /** `countGpuCalls` sets it in the worker. */
  var gpuCounts: (() => GpuCounts) | undefined;
  /** `countSubmits` sets it in the worker. */
  var submitCounts: Pick<GpuCounts, 'numSubmits' | 'idleMs'> | undefined;
}

/** The worker that runs the model: onnxruntime-web may have threads of its own. */
export async function gpuWorkerOf(page: Page): Promise<Worker> {
  for (const worker of page.workers()) {
    if (await worker.evaluate(() => self.name === 'tabserve')) return worker;
  }
  throw new Error('The page has no worker that runs the model');
}

/** Runs in the worker, sent there as text. Counting costs CPU time and never stops. Call `countSubmits` first. */
export function countGpuCalls(): void {
  const counts = { numDispatches: 0, numBuffersCreated: 0, numBytesRead: 0 };
  const pass = GPUComputePassEncoder.prototype;
  // oxlint-disable typescript/unbound-method -- each is called with its own object
  const { dispatchWorkgroups, dispatchWorkgroupsIndirect } = pass;
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
  const { submitCounts } = globalThis;
  if (!submitCounts) throw new Error('Submits are not counted here: call `countSubmits` first');
  globalThis.gpuCounts = () => ({ ...counts, ...submitCounts });
}

/** Runs in the worker, sent there as text. Counts submits, and the time in which none is pending. */
export function countSubmits(): void {
  const counts = { numSubmits: 0, idleMs: 0 };
  let numPending = 0;
  let idleSinceMs = performance.now();
  const onDone = (): undefined => {
    numPending -= 1;
    if (numPending === 0) idleSinceMs = performance.now();
  };
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object
  const { submit } = GPUQueue.prototype;
  GPUQueue.prototype.submit = function counted(buffers) {
    counts.numSubmits += 1;
    if (numPending === 0) counts.idleMs += performance.now() - idleSinceMs;
    numPending += 1;
    submit.call(this, buffers);
    void this.onSubmittedWorkDone().then(onDone);
    return undefined;
  };
  globalThis.submitCounts = counts;
}

/** Runs in the worker. */
export function readGpuCounts(): GpuCounts {
  if (!globalThis.gpuCounts) throw new Error('Nothing is counted here: call `countGpuCalls` first');
  return globalThis.gpuCounts();
}
