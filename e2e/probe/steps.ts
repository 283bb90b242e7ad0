import type { SamplingParams } from '../../src/batching/options/sampling-options.ts';
import { play } from '../../tools/reference/play-requests.ts';
import { GpuCalls } from './gpu-calls.ts';
import { openModel } from './models.ts';

const NUM_ROWS = 3;
const NUM_TIMES = 4;
/** Around the lengths at which attention takes another workgroup. */
const POSITIONS = [0, 63, 64, 100];
/** Not a multiple of the keys per workgroup. A model's context may be that, too. */
const CAPACITY = 101;

/**
 * Repeats steps at ascending positions: each step runs first, is captured the second time and replayed from then on. It writes
 * the same keys and values every time, so its logits are the same.
 *
 * @returns A line for each step whose logits differ in any bit from those of its first time, and the number of steps in which
 *   onnxruntime-web described nothing to the GPU: it makes a bind group for each dispatch, about a dozen per layer.
 */
export async function repeatSteps() {
  const { backend, config } = await openModel({ backend: 'webgpu' });
  const calls = new GpuCalls();
  const differences: string[] = [];
  let numReplayed = 0;
  for (const position of POSITIONS) {
    // Drops all captures, and keeps the keys and values.
    for (const capacity of [CAPACITY + 1, CAPACITY])
      backend.resize({ numSlots: NUM_ROWS, numStagingRows: 1, capacity, numSnapshots: 0 });
    const lastIndices = Int32Array.from({ length: NUM_ROWS }, (_, row) => Math.max(0, position - row));
    const ids = lastIndices.map((index, row) => (7 * index + row) % config.vocabSize);
    let first: Float32Array | undefined;
    for (let time = 0; time < NUM_TIMES; time += 1) {
      const before = calls.numBindGroupsCreated;
      const rows = { target: 'slots', numRows: NUM_ROWS, tokensPerRow: 1 } as const;
      await backend.forward({ ...rows, ids, positions: lastIndices, lastIndices });
      if (calls.numBindGroupsCreated === before) numReplayed += 1;
      const logits = await backend.readLogits(NUM_ROWS);
      first ??= logits;
      const expected = first;
      if (!logits.every((value, i) => value === expected[i]))
        differences.push(`position ${position}, time ${time}`);
    }
  }
  calls.stop();
  return { differences, numSteps: NUM_TIMES * POSITIONS.length, numReplayed };
}

/** Decodes a batch on WebGPU, and counts what each decode step takes. */
export async function resourcesPerStep(params: readonly SamplingParams[], numSteps: number) {
  const model = await openModel({ backend: 'webgpu' });
  const calls = new GpuCalls();
  const steps: { readonly numBuffersCreated: number; readonly numBytesRead: number }[] = [];
  const policy = { policy: 'static', maxBatchSize: params.length, batchWaitTimeoutMs: 0 } as const;
  const arrivals = params.map((sampling) => ({
    draft: { promptTokenIds: [257], maxNewTokens: numSteps + 1, ignoreEos: true, sampling },
    afterSteps: 0,
  }));
  await play(model, { policy, isPipelined: false, arrivals }, ({ kind }) => {
    const { numBuffersCreated, numBytesRead } = calls;
    if (kind === 'decode') steps.push({ numBuffersCreated, numBytesRead });
    [calls.numBuffersCreated, calls.numBytesRead] = [0, 0];
  });
  calls.stop();
  return steps;
}
