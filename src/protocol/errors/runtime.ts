import { codedError } from './coded-error.ts';

/** WebGPU was requested, but the browser offers no adapter. */
export class NoWebGpuAdapterError extends codedError('NoWebGpuAdapterError', 'NO_WEBGPU_ADAPTER') {
  /** The problem without the remedy, for a page that falls back to WASM. */
  readonly reason: string;

  constructor(message: string, reason = message) {
    super(message);
    this.reason = reason;
  }

  static because(detail: string): NoWebGpuAdapterError {
    const reason = `WebGPU isn't available: ${detail}`;
    return new NoWebGpuAdapterError(
      `${reason}. Use a browser with WebGPU turned on, or open the page with ?backend=wasm.`,
      reason,
    );
  }

  static notShipped(): NoWebGpuAdapterError {
    const reason = "WebGPU isn't available: this app ships the runtime of tabserve/worker-wasm alone";
    return new NoWebGpuAdapterError(`${reason}. Import tabserve/worker in the worker's script.`, reason);
  }
}

/** The device lacks a feature that this rung of the ladder needs. */
export class RungUnavailableError extends Error {
  override readonly name = 'RungUnavailableError';
}

/** The GPU computes wrong values without reporting an error. */
export class GpuWrongValuesError extends codedError('GpuWrongValuesError', 'GPU_WRONG_VALUES') {
  /** The problem without the remedy, for a page that falls back. */
  readonly reason: string;

  constructor(message: string, reason = message) {
    super(message);
    this.reason = reason;
  }

  /** @param where As in `row 3 of a batch`. */
  static of(precision: 'float16' | 'float32', where: string): GpuWrongValuesError {
    const reason = `This GPU computes wrong values${precision === 'float16' ? ' in fp16' : ''} (${where})`;
    return new GpuWrongValuesError(
      `${reason}. Update the browser and the GPU's driver, or open the page with ?backend=wasm.`,
      reason,
    );
  }
}

/** The GPU device was lost. Its requests continue on a new one. */
export class DeviceLostError extends codedError('DeviceLostError', 'DEVICE_LOST') {
  static because(detail: string): DeviceLostError {
    return new DeviceLostError(`The GPU device was lost (${detail}). Requests go on with a new one.`);
  }
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
