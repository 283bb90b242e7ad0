import { importPart } from '../../base/import-part.ts';
import type { OnnxSource } from './onnx-files.ts';
import { checkOnnxOptions, type OnnxModelOptions } from './onnx-options.ts';
import type { OnnxFeed, OnnxTensor, OnnxValueInfo } from './onnx-tensor.ts';

/** An ONNX model of a deployment. */
export interface OnnxModel {
  /** What `run` takes. */
  readonly inputs: readonly OnnxValueInfo[];
  /** What `run` gives. */
  readonly outputs: readonly OnnxValueInfo[];
  /** Where it runs. */
  readonly backend: 'wasm' | 'webgpu';
  /**
   * Runs one batch, never at the same time as another run in the worker.
   *
   * @param feeds A value for each input, by its name.
   * @returns The outputs, by their names.
   * @throws InvalidOptionError, UnknownOptionError for a value that the model doesn't take; OnnxModelError if the run fails; WasmAbortError where the
   *   runtime aborted: nothing runs in this worker any more.
   */
  run(feeds: Readonly<Record<string, OnnxFeed>>): Promise<Readonly<Record<string, OnnxTensor>>>;
}

/**
 * Makes a loader for the handler of a deployment.
 *
 * @param source Of the `.onnx` file: on a hub `https://huggingface.co/owner/name/resolve/main/model.onnx`.
 * @returns A function that fetches the model with its first call, and again after a call that failed. It rejects with
 *   ModelFileMissingError if a file can't be fetched, with OnnxModelError if the model can't be loaded, and with
 *   NoWebGpuAdapterError where WebGPU is wanted and isn't there.
 * @throws InvalidOptionError, UnknownOptionError for a source that is none, and for options that aren't there.
 */
export function loadOnnxModel(source: OnnxSource, options: OnnxModelOptions = {}): () => Promise<OnnxModel> {
  const checked = checkOnnxOptions(source, options);
  let loading: Promise<OnnxModel> | undefined;
  return async () => {
    loading ??= createModel(source, checked);
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
}

/** What runs it is fetched with the first model: most pages have none. */
async function createModel(source: OnnxSource, options: OnnxModelOptions): Promise<OnnxModel> {
  const { createSessionModel } = await importPart(() => import('./session-model.ts'));
  return createSessionModel(source, options);
}
