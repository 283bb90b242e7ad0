import type { Dtype, DtypeChoice } from '../../src/protocol/models.ts';

/** A generated checkpoint, and what is to be run of it. */
export interface CheckpointRequest {
  readonly id: string;
  readonly backend: 'webgpu' | 'wasm';
  readonly dtypes: readonly DtypeChoice[];
  /** Token ids. */
  readonly prompts: readonly (readonly number[])[];
  /** Tokens of each prompt's greedy continuation. All prompts run in one batch. */
  readonly numTokens: number;
  /** Limits the bytes that a shader binds, below the adapter's own limit. */
  readonly maxBindingBytes?: number;
}

/** Results of a checkpoint in one precision. */
export interface CheckpointRun {
  readonly dtype: Dtype;
  readonly packedBytes: number;
  /** RMS of the error over RMS of the weights, by the names of the quantized tensors. */
  readonly quantizationErrors: Readonly<Record<string, number>>;
  /** Upper bound of RMS of the logits' error over RMS of the logits. */
  readonly logitsErrorBound: number;
  /** The most that may be in JavaScript's memory at once. */
  readonly plannedHeapBytes: number;
  /** [vocab] for each prompt's last token. */
  readonly logits: readonly (readonly number[])[];
  readonly greedyTokenIds: readonly (readonly number[])[];
  /** Bytes of the runtime's heap, which only grows. */
  readonly wasmHeapBytes: number;
  readonly convertMs: number;
  readonly createMs: number;
}

let worker: Worker | undefined;

/**
 * Loads a checkpoint as the product does, in a worker: packed into OPFS, and from there into the runtime. Calls must not
 * overlap. All calls share one worker.
 */
export async function runCheckpoint(request: CheckpointRequest): Promise<CheckpointRun[]> {
  worker ??= new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { type: 'module' });
  const { promise, resolve, reject } = Promise.withResolvers<CheckpointRun[]>();
  const listening = new AbortController();
  const { signal } = listening;
  worker.addEventListener('error', ({ message }) => reject(new Error(message)), { signal });
  worker.addEventListener(
    'message',
    ({ data }: MessageEvent<{ runs: CheckpointRun[] } | { error: string }>) => {
      if ('runs' in data) resolve(data.runs);
      else reject(new Error(data.error));
    },
    { signal },
  );
  worker.postMessage(request);
  try {
    return await promise;
  } finally {
    listening.abort();
  }
}
