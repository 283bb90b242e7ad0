/** For `node --import`: gives Node a browser's WebGPU globals, which the worker's modules read as they load. */
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
Object.defineProperty(navigator, 'gpu', { value: create([]) });

/** onnxruntime-web writes from its shared WASM memory, which browsers accept and Dawn for Node refuses: copy first. */
// oxlint-disable-next-line typescript/unbound-method -- called on its queue below
const writeBuffer: GPUQueue['writeBuffer'] = GPUQueue.prototype.writeBuffer;
GPUQueue.prototype.writeBuffer = function writeCopy(target, targetOffset, data, dataOffset, size): undefined {
  writeBuffer.call(this, target, targetOffset, copyOf(data, dataOffset, size));
};

/** @param offset In elements of a typed array, else in bytes; so is `size`, which is all of the rest where left out. */
function copyOf(data: AllowSharedBufferSource, offset = 0, size?: number): Uint8Array<ArrayBuffer> {
  const unit = 'BYTES_PER_ELEMENT' in data ? Number(data.BYTES_PER_ELEMENT) : 1;
  const begin = offset * unit;
  const numBytes = size === undefined ? data.byteLength - begin : size * unit;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset + begin, numBytes).slice()
    : new Uint8Array(data, begin, numBytes).slice();
}
