import { shown } from '../../../batching/base/errors.ts';
import { NoRuntimeError, RuntimeFileError } from '../../../protocol/errors/worker.ts';

// The messages are here and not in the classes, which every page loads.

const MAX_ADDRESS = 300;

/** @param url The file's address; undefined where the browser doesn't tell. */
export function runtimeFileMissing(cause: Error, url: string | undefined): RuntimeFileError {
  const where = url === undefined ? '' : ` from ${shown(url, MAX_ADDRESS)}`;
  return new RuntimeFileError(
    `onnxruntime's .wasm file couldn't be loaded${where}: it is missing, or a web page came in its place. Check that the device is online, ` +
      "then reload the page. In an app of your own, serve the files of the package's folder onnxruntime/ and name their address: " +
      'startWorker({ runtimeUrl }).',
    { cause },
  );
}

export function noRuntime(detail: string): NoRuntimeError {
  return new NoRuntimeError(
    `The ONNX runtime of tabserve/worker-webgpu doesn't run here: ${detail}. Update the browser, or import tabserve/worker in the worker's script.`,
  );
}
