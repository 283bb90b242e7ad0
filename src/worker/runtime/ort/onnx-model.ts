import { ModelFileMissingError } from '../../../protocol/errors/model.ts';
import { isWasmAbort } from '../faults/fault-of.ts';
import { WasmAbortError } from '../../../protocol/errors/runtime.ts';
import { ortInUse, ortMutex } from './ort.ts';

/** A small ONNX model with one float32 input and one float32 output, on the CPU. */
export interface OnnxModel {
  /**
   * Runs one batch, never at the same time as another run in the worker.
   *
   * @param inputName The input's name in the graph.
   * @param values The batch, row after row.
   * @param dims The input's shape, as in [batch size, features]. Its product is the length of `values`.
   * @returns The first output, row after row.
   * @throws WasmAbortError where the runtime aborted: nothing runs in this worker any more.
   */
  run(inputName: string, values: Float32Array, dims: readonly number[]): Promise<Float32Array>;
}

/**
 * Makes a loader for the handler of a deployment.
 *
 * @param url Of the `.onnx` file, relative to the worker's script.
 * @returns A function that fetches the model with its first call, and again after a call that failed. It rejects with
 *   ModelFileMissingError if the file can't be fetched.
 */
export function loadOnnxModel(url: string): () => Promise<OnnxModel> {
  let loading: Promise<OnnxModel> | undefined;
  return async () => {
    loading ??= createModel(url);
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
}

async function createModel(url: string): Promise<OnnxModel> {
  const response = await fetch(url);
  if (!response.ok) throw ModelFileMissingError.of(url, `HTTP status ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const ort = await ortInUse();
  const session = await ortMutex.run(() =>
    ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] }),
  );
  const outputName = session.outputNames[0] ?? '';
  return {
    async run(inputName, values, dims) {
      const feeds = { [inputName]: new ort.Tensor('float32', values, dims) };
      const outputs = await ortMutex.run(() => session.run(feeds)).catch(asWasmAbort);
      const data = outputs[outputName]?.data;
      if (data instanceof Float32Array) return data;
      throw new TypeError(`Expected output ${outputName} of ${url} to be float32`);
    },
  };
}

function asWasmAbort(cause: unknown): never {
  throw isWasmAbort(cause) ? WasmAbortError.because(cause) : cause;
}
