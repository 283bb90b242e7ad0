/** WebGPU was asked for, but the browser has no adapter to give. */
export class NoWebGpuAdapterError extends Error {
  override readonly name = 'NoWebGpuAdapterError';
  readonly code = 'NO_WEBGPU_ADAPTER';

  static because(detail: string): NoWebGpuAdapterError {
    return new NoWebGpuAdapterError(
      `WebGPU is not available (${detail}): use a browser with WebGPU switched on, or open the page with ?backend=wasm.`,
    );
  }
}

/** The GPU device is gone; a reload makes a new one. */
export class DeviceLostError extends Error {
  override readonly name = 'DeviceLostError';
  readonly code = 'DEVICE_LOST';

  static because(detail: string): DeviceLostError {
    return new DeviceLostError(`The GPU device was lost (${detail}): reload the page.`);
  }
}
