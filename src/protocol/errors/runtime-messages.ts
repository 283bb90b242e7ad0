import { DeviceLostError, GpuWrongValuesError, NoWebGpuAdapterError } from './runtime.ts';
import { OF_SECURE_PAGES, OPEN_SECURELY } from './secure-page.ts';

// A tab makes the worker's errors again from their codes, without what is said here.

export function noWebGpuAdapter(detail: string): NoWebGpuAdapterError {
  const reason = `WebGPU isn't available: ${detail}`;
  return new NoWebGpuAdapterError(
    `${reason}. Use a browser with WebGPU turned on, or open the page with ?backend=wasm.`,
    reason,
  );
}

export function webGpuNeedsSecurePage(): NoWebGpuAdapterError {
  const reason = `WebGPU isn't available: ${OF_SECURE_PAGES}`;
  return new NoWebGpuAdapterError(`${reason}. ${OPEN_SECURELY}, or with ?backend=wasm.`, reason);
}

export function webGpuNotShipped(): NoWebGpuAdapterError {
  const reason = "WebGPU isn't available: this app ships the runtime of tabserve/worker-wasm alone";
  return new NoWebGpuAdapterError(`${reason}. Import tabserve/worker in the worker's script.`, reason);
}

/** @param where As in `row 3 of a batch`. */
export function gpuWrongValues(precision: 'float16' | 'float32', where: string): GpuWrongValuesError {
  const reason = `This GPU computes wrong values${precision === 'float16' ? ' in fp16' : ''} (${where})`;
  return new GpuWrongValuesError(
    `${reason}. Update the browser and the GPU's driver, or open the page with ?backend=wasm.`,
    reason,
  );
}

export function deviceLost(detail: string): DeviceLostError {
  return new DeviceLostError(`The GPU device was lost (${detail}). Requests go on with a new one.`);
}
