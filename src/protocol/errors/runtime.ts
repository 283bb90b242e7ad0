import { codedError } from './coded-error.ts';

/** WebGPU was requested, but the browser offers no adapter. */
export class NoWebGpuAdapterError extends codedError('NoWebGpuAdapterError', 'NO_WEBGPU_ADAPTER') {
  /** The problem without the remedy, for a page that falls back to WASM. */
  readonly reason: string;

  constructor(message: string, reason = message) {
    super(message);
    this.reason = reason;
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
}

/** The GPU device was lost. Its requests continue on a new one. */
export class DeviceLostError extends codedError('DeviceLostError', 'DEVICE_LOST') {}
