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
