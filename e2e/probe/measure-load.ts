import type { Dtype } from '../../src/protocol/models.ts';
import { askWorker } from './ask-worker.ts';

/** A generated checkpoint that is loaded. */
export interface LoadRequest {
  readonly id: string;
  readonly backend: 'webgpu' | 'wasm';
  readonly dtype: Dtype;
  /** Token ids. */
  readonly prompts: readonly (readonly number[])[];
}

export interface MeasuredLoad {
  readonly packedBytes: number;
  /** The most that may be in JavaScript's memory at once. */
  readonly plannedHeapBytes: number;
  /** Bytes of the runtime's heaps, which only grow. */
  readonly wasmHeapBytes: number;
  /** [vocab] for each prompt's last token. */
  readonly logits: readonly (readonly number[])[];
}

let worker: Worker | undefined;

/** Loads a checkpoint as the product does: in a worker, stored, and from there into the runtime. Calls must not overlap, and share the worker. */
export async function measureLoad(request: LoadRequest): Promise<MeasuredLoad> {
  worker ??= new Worker(new URL('./load-worker.ts', import.meta.url), { type: 'module' });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- load-worker.ts answers so
  const answer = (await askWorker(worker, request)) as { measured: MeasuredLoad } | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return answer.measured;
}
