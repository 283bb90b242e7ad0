import type { ModelTooLargeError } from '../../protocol/errors/model.ts';
import { countParameters } from '../models/program/model-config.ts';
import { tooLarge } from '../models/model-errors.ts';
import { isMemoryError } from '../runtime/faults/fault-of.ts';
import type { PackedModel } from '../runtime/model-backend.ts';
import { requireWasm } from '../runtime/require-wasm.ts';
import { cpuWeightBytes } from './cpu-limits.ts';
import { CpuMemory } from './memory/cpu-memory.ts';
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
  const memory = reserve(byteLength, isShared, model);
  const { module, kernels: own } = await loadKernels(memory.memory, isShared);
  const { kernels, end } = isShared
    ? await startThreads(module, memory.memory, own, numThreads)
    : { kernels: own, end: () => {} };
  try {
    const placed = await placeWeights(weights, memory, kernels);
    const plan = new CpuPlan(model.program, { kernels, numThreads }, memory, placed);
    return { plan, memory, endThreads: end };
  } catch (error) {
    end();
    throw isMemoryError(error) ? noRoom(byteLength, model) : error;
  }
}

/** Before anything is read: a memory that can't hold the weights refuses them at once. */
function reserve(byteLength: number, isShared: boolean, model: PackedModel['model']): CpuMemory {
  try {
    return new CpuMemory(RESERVED_BYTES, byteLength, isShared);
  } catch {
    throw noRoom(byteLength, model);
  }
}

function noRoom(byteLength: number, { program }: PackedModel['model']): ModelTooLargeError {
  const megabytes = Math.ceil(byteLength / 1e6);
  const detail = `its weights take ${megabytes} MB, which the browser doesn't give`;
  return tooLarge(detail, countParameters(program.weights));
}
