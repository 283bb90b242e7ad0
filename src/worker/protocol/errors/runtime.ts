/** WebGPU was asked for, but the browser has no adapter to give. */
export class NoWebGpuAdapterError extends Error {
  override readonly name = 'NoWebGpuAdapterError';
  readonly code = 'NO_WEBGPU_ADAPTER';
  /** What is missing, without the remedy: a page that falls back to WASM needs none. */
  readonly reason: string;

  constructor(message: string, reason = message) {
    super(message);
    this.reason = reason;
  }

  static because(detail: string): NoWebGpuAdapterError {
    const reason = `WebGPU is not available (${detail})`;
    return new NoWebGpuAdapterError(
      `${reason}: use a browser with WebGPU switched on, or open the page with ?backend=wasm.`,
      reason,
    );
  }
}

/** This rung of the ladder needs what the device does not have. */
export class RungUnavailableError extends Error {
  override readonly name = 'RungUnavailableError';
}

/** The GPU device is gone: what ran on it goes on with a new one. */
export class DeviceLostError extends Error {
  override readonly name = 'DeviceLostError';
  readonly code = 'DEVICE_LOST';

  static because(detail: string): DeviceLostError {
    return new DeviceLostError(`The GPU device was lost (${detail}): requests go on with a new one.`);
  }
}

/** The adapter that a device was lost on is not offered any more, or not yet. */
export class AdapterGoneError extends Error {
  override readonly name = 'AdapterGoneError';

  static because(cause: Error): AdapterGoneError {
    return new AdapterGoneError(`The GPU adapter is gone: ${cause.message}`, { cause });
  }
}

/** The device refused something that it was asked to do; what it computes from then on cannot be trusted. */
export class GpuError extends Error {
  override readonly name = 'GpuError';
  /** It had no memory left. */
  readonly isMemory: boolean;

  constructor(message: string, isMemory: boolean) {
    super(message);
    this.isMemory = isMemory;
  }

  static of(error: GPUError): GpuError {
    return new GpuError(`WebGPU error: ${error.message}`, error instanceof GPUOutOfMemoryError);
  }
}

/** A step that never ended. */
export class StepHangError extends Error {
  override readonly name = 'StepHangError';

  static after(patienceMs: number): StepHangError {
    return new StepHangError(`A step has not ended within ${Math.round(patienceMs / 1000)} s.`);
  }
}

/** The instance of the WASM runtime that the worker has is at an end. */
export class WasmAbortError extends Error {
  override readonly name = 'WasmAbortError';

  static because(cause: Error): WasmAbortError {
    return new WasmAbortError(cause.message, { cause });
  }
}
