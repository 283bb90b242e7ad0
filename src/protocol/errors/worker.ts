import { codedError } from './coded-error.ts';

/** `connect()` was called outside of a page, such as on a server. */
export class NoBrowserError extends codedError('NoBrowserError', 'NO_BROWSER') {
  static of(): NoBrowserError {
    return new NoBrowserError(
      'connect() needs a page with workers, and there is none here. Call it in the browser only: in an effect, or where `typeof document` is not `undefined`.',
    );
  }
}

/** The worker's script could not be loaded, even after several tries. */
export class WorkerNotLoadedError extends codedError('WorkerNotLoadedError', 'WORKER_NOT_LOADED') {
  /** The code that says more doesn't come either. */
  static withoutServer(): WorkerNotLoadedError {
    return new WorkerNotLoadedError(
      "The worker's script couldn't be loaded. Check that the device is online and its server runs, then reload the page.",
    );
  }
}

/** Several workers in a row ended before they could serve. */
export class WorkerFailedError extends codedError('WorkerFailedError', 'WORKER_FAILED') {
  static because(detail: string): WorkerFailedError {
    const remedy = detail.includes('TrustedScriptURL')
      ? 'call allowOwnScripts() before connect(), or serve the page with a `policy` without `require-trusted-types-for`'
      : 'reload the page';
    return new WorkerFailedError(`The worker failed (${detail}): ${remedy}.`);
  }
}

/** The worker's script was probably loaded, but never called `startWorker()`. */
export class WorkerSilentError extends codedError('WorkerSilentError', 'WORKER_SILENT') {
  static after(seconds: number): WorkerSilentError {
    return new WorkerSilentError(
      `The worker has said nothing for ${seconds} s: its script has to call startWorker(), before any await. Then reload the page.`,
    );
  }
}

/** A `.wasm` file of the runtime could not be loaded. */
export class RuntimeFileError extends codedError('RuntimeFileError', 'RUNTIME_FILE_MISSING') {}

/** A deployment has an ONNX model, and the worker imports `tabserve/worker-webgpu`, whose runtime doesn't run in this browser. */
export class NoRuntimeError extends codedError('NoRuntimeError', 'NO_RUNTIME') {}

/** The Content-Security-Policy of the worker forbids WebAssembly. */
export class WasmForbiddenError extends codedError('WasmForbiddenError', 'WASM_FORBIDDEN') {}
