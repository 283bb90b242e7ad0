// Errors that stay in the worker: none has a code.

/** The device lacks a feature that this rung of the ladder needs. */
export class RungUnavailableError extends Error {
  override readonly name = 'RungUnavailableError';
}

/** After a lost device, the browser offers no adapter, at least not yet. */
export class AdapterGoneError extends Error {
  override readonly name = 'AdapterGoneError';

  static because(cause: Error): AdapterGoneError {
    return new AdapterGoneError(`The GPU adapter disappeared: ${cause.message}`, { cause });
  }
}

/** The GPU reported an error, so its later results cannot be trusted. */
export class GpuError extends Error {
  override readonly name = 'GpuError';
  /** Whether the GPU ran out of memory. */
  readonly isMemory: boolean;

  constructor(message: string, isMemory: boolean) {
    super(message);
    this.isMemory = isMemory;
  }

  static of(error: GPUError): GpuError {
    return new GpuError(`WebGPU error: ${error.message}`, error instanceof GPUOutOfMemoryError);
  }
}

/** A step took longer than the watchdog allows. */
export class StepHangError extends Error {
  override readonly name = 'StepHangError';

  static after(patienceMs: number): StepHangError {
    return new StepHangError(`A step did not end within ${Math.round(patienceMs / 1000)} s.`);
  }
}

/** The WASM runtime of this worker aborted and cannot be used again. */
export class WasmAbortError extends Error {
  override readonly name = 'WasmAbortError';

  static because(cause: Error): WasmAbortError {
    return new WasmAbortError(cause.message, { cause });
  }
}
