import { countParameters } from '../models/model-config.ts';
import { tooLarge } from '../models/model-errors.ts';
import type { PackedModel } from '../runtime/model-backend.ts';
import { requireWasm } from '../runtime/require-wasm.ts';
import { cpuWeightBytes } from './cpu-limits.ts';
import { CpuMemory } from './cpu-memory.ts';
import { loadKernels, RESERVED_BYTES } from './kernels/load-kernels.ts';
import { CpuPlan } from './plan/cpu-plan.ts';
import { startThreads } from './threads/kernel-threads.ts';
import { placeWeights } from './weights/place-weights.ts';

/** Room in each tensor for alignment. */
const SLACK_BYTES = 192;

/** A model in a memory of its own. */
export interface PlannedModel {
  readonly plan: CpuPlan;
  readonly memory: CpuMemory;
  readonly endThreads: () => void;
}

/**
 * @param numThreads More than one needs a cross-origin isolated page.
 * @throws WasmForbiddenError if a policy forbids WebAssembly.
 * @throws ModelTooLargeError where the browser gives no memory for the weights.
 */
export async function createCpuPlan(
  { model, packed, weights }: PackedModel,
  numThreads: number,
): Promise<PlannedModel> {
  requireWasm();
  const isShared = numThreads > 1;
  const byteLength = cpuWeightBytes(packed) + SLACK_BYTES * packed.tensors.length;
  const memory = memoryOf(byteLength, isShared, model.program.weights);
  const { module, kernels: own } = await loadKernels(memory.memory, isShared);
  const { kernels, end } = isShared
    ? await startThreads(module, memory.memory, own, numThreads)
    : { kernels: own, end: () => {} };
  try {
    const placed = await placeWeights({ packed, weights }, memory, kernels);
    const plan = new CpuPlan(model.program, { kernels, numThreads }, memory, placed);
    return { plan, memory, endThreads: end };
  } catch (error) {
    end();
    throw error;
  }
}

function memoryOf(
  byteLength: number,
  isShared: boolean,
  weights: Parameters<typeof countParameters>[0],
): CpuMemory {
  try {
    return new CpuMemory(RESERVED_BYTES, byteLength, isShared);
  } catch {
    const megabytes = Math.ceil(byteLength / 1e6);
    throw tooLarge(
      `its weights take ${megabytes} MB, which the browser doesn't give`,
      countParameters(weights),
    );
  }
}
