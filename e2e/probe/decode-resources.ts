import { kvSlot } from '../../src/batching/generation/kv-slots.ts';
import type { StepRow } from '../../src/batching/generation/model-runner.ts';
import type { SamplingParams } from '../../src/batching/sampling/sampling-options.ts';
import { createRequestId } from '../../src/protocol/ids.ts';
import { BackendRunner } from '../../src/worker/runtime/runner.ts';
import { sharedModel } from './shared-model.ts';

/** WebGPU calls of one decode step. */
export interface StepResources {
  readonly numBuffersCreated: number;
  readonly numBytesRead: number;
}

/** Decodes a batch on WebGPU and counts what each step takes, onnxruntime-web's own calls included. */
export async function resourcesPerStep(
  params: readonly SamplingParams[],
  numSteps: number,
): Promise<readonly StepResources[]> {
  const { backend } = await sharedModel('webgpu');
  const runner = new BackendRunner(backend);
  const kvShape = { numSlots: params.length, numStagingRows: params.length, capacity: 128 };
  const rows: StepRow[] = params.map((sampling, index) => ({
    requestId: createRequestId(),
    slot: kvSlot(index),
    tokenIds: [257],
    startPosition: 0,
    sampling,
    tokenCounts: new Map([[257, 0]]),
  }));
  const shared = { kvShape, transfers: [] };
  const prefill = { ...shared, kind: 'prefill' as const, rows, isLastChunk: true, reusedSlot: undefined };
  await runner.start(prefill).output;
  const counter = countCalls();
  const steps: StepResources[] = [];
  for (let step = 1; step <= numSteps; step += 1) {
    const decoding = rows.map((row) => ({ ...row, startPosition: step }));
    await runner.start({ ...shared, kind: 'decode', isBehind: false, rows: decoding }).output;
    steps.push(counter.take());
  }
  counter.stop();
  return steps;
}

/** Wraps the browser's own functions until it is stopped. */
function countCalls(): { take(): StepResources; stop(): void } {
  // oxlint-disable-next-line typescript/unbound-method -- each is called with its own object below
  const [createBuffer, mapAsync] = [GPUDevice.prototype.createBuffer, GPUBuffer.prototype.mapAsync];
  let [numBuffersCreated, numBytesRead] = [0, 0];
  GPUDevice.prototype.createBuffer = function counted(...args) {
    numBuffersCreated += 1;
    return createBuffer.apply(this, args);
  };
  GPUBuffer.prototype.mapAsync = function counted(mode, offset, size) {
    numBytesRead += size ?? this.size;
    return mapAsync.call(this, mode, offset, size);
  };
  return {
    take: () => {
      const taken = { numBuffersCreated, numBytesRead };
      [numBuffersCreated, numBytesRead] = [0, 0];
      return taken;
    },
    stop: () => {
      GPUDevice.prototype.createBuffer = createBuffer;
      GPUBuffer.prototype.mapAsync = mapAsync;
    },
  };
}
