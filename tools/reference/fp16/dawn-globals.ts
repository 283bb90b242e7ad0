/** For `node --import`: gives Node a browser's WebGPU globals, which the worker's modules read as they load. */
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
Object.defineProperty(navigator, 'gpu', { value: create([]) });

const KNOWN_BOUND = /(for \(var \w+(?: : u32)? = 0u?; \w+ < (?:max_k_step|head_size_vec));/g;

/** While it waits, Dawn for Node polls in each iteration of the event loop, which would take a whole core. */
const POLL_MS = 1;
Object.assign(globalThis, {
  setImmediate: (run: () => void, ...args: []) => setTimeout(run, POLL_MS, ...args),
});

/** onnxruntime-web writes from its shared WASM memory, which browsers accept and Dawn for Node refuses: copy first. */
// oxlint-disable-next-line typescript/unbound-method -- called on its queue below
const writeBuffer: GPUQueue['writeBuffer'] = GPUQueue.prototype.writeBuffer;
GPUQueue.prototype.writeBuffer = function writeCopy(target, targetOffset, data, dataOffset, size): undefined {
  writeBuffer.call(this, target, targetOffset, copyOf(data, dataOffset, size));
};

/**
 * LLVM takes minutes for the unrolled loops of prefill's attention. A bound that it can't know keeps the loops, and changes nothing
 * that they compute.
 */
// oxlint-disable-next-line typescript/unbound-method -- called on its device below
const createShaderModule: GPUDevice['createShaderModule'] = GPUDevice.prototype.createShaderModule;
GPUDevice.prototype.createShaderModule = function createLooping(descriptor): GPUShaderModule {
  const code = descriptor.code.includes('const max_k_step')
    ? descriptor.code.replaceAll(KNOWN_BOUND, '$1 - u32(uniforms.num_seq_tile == 0u);')
    : descriptor.code;
  return createShaderModule.call(this, { ...descriptor, code });
};

/** @param offset In elements of a typed array, else in bytes. So is `size`, which is the remainder by default. */
function copyOf(data: AllowSharedBufferSource, offset = 0, size?: number): Uint8Array<ArrayBuffer> {
  const unit = 'BYTES_PER_ELEMENT' in data ? Number(data.BYTES_PER_ELEMENT) : 1;
  const begin = offset * unit;
  const numBytes = size === undefined ? data.byteLength - begin : size * unit;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset + begin, numBytes).slice()
    : new Uint8Array(data, begin, numBytes).slice();
}
