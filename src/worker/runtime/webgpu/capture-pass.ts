import { BUFFER_USAGE } from '../gpu-sampler/gpu-flags.ts';
import {
  replayOf,
  watchDestruction,
  type CapturedPass,
  type Dispatch,
  type Launch,
  type Transfer,
} from './captured-pass.ts';

/** Parameters that onnxruntime-web writes for one shader, and their binding. */
interface Uniform {
  readonly binding: number;
  readonly content: Uint8Array<ArrayBuffer>;
}

interface RecordedDispatch extends Dispatch {
  /** Empty until the dispatch is submitted: the shader reads what its buffers hold at that time. */
  uniforms: readonly Uniform[];
}

/** The arguments of a method as its watcher sees them. TypeScript infers those of the last overload: that of `copyBufferToBuffer` takes offsets. */
type Call<Method> = Method extends (...args: infer Args) => infer Result
  ? [result: Result, ...args: Args]
  : never;

/** Offsets of uniform bindings are multiples of this many bytes: the strictest alignment that a WebGPU device may ask for. */
const UNIFORM_ALIGNMENT = 256;

/**
 * Runs a forward pass of onnxruntime-web and captures its GPU commands.
 *
 * onnxruntime-web's own graph capture would leave out the sampler, and it accepts only tensors that it allocated itself.
 *
 * Clears are left out, as in that capture: onnxruntime-web clears a buffer when it hands it out again, so that no kernel sees what an
 * earlier run left there. About one a dispatch, each ends a compute pass.
 *
 * @param run Nothing else may use the device until this resolves.
 * @returns `undefined` if the pass can't be replayed: it read data back, or uploaded data of this run.
 */
export async function capturePass(
  device: GPUDevice,
  run: () => Promise<unknown>,
): Promise<CapturedPass | undefined> {
  const capture = new PassCapture(device);
  try {
    await run();
  } finally {
    capture.stop();
  }
  return capture.finish();
}

/** Wraps the methods of the device and of its queue, encoders and passes while onnxruntime-web runs a pass. */
class PassCapture {
  readonly #device: GPUDevice;
  readonly #steps: (RecordedDispatch | Transfer)[] = [];
  readonly #groups = new Map<GPUBindGroup, GPUBindGroupDescriptor>();
  readonly #buffers = new Set<GPUBuffer>();
  /** Contents of the uniform buffers. */
  readonly #written = new Map<GPUBuffer, Uint8Array<ArrayBuffer>>();
  readonly #restorers: (() => void)[] = [];
  #numSubmitted = 0;
  #isRepeatable = true;

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#watchDevice();
    this.#watchQueue();
  }

  stop(): void {
    for (const restore of this.#restorers) restore();
  }

  finish(): CapturedPass | undefined {
    const isWhole = this.#steps.length > 0 && this.#numSubmitted === this.#steps.length;
    if (!this.#isRepeatable || !isWhole) return undefined;
    const uniforms = this.#uploadUniforms();
    let offset = 0;
    const commands = this.#steps.map((step) => {
      if ('encode' in step) return step;
      const bindings = this.#rebind(step, uniforms, offset);
      offset += step.uniforms.reduce((size, { content }) => size + alignedSize(content), 0);
      return { pipeline: step.pipeline, bindings, launch: step.launch };
    });
    return replayOf(commands, this.#buffers, uniforms);
  }

  #watchDevice(): void {
    const device = this.#device;
    this.#watch(device, 'createBindGroup', (group, descriptor) => this.#groups.set(group, descriptor));
    this.#watch(device, 'createCommandEncoder', (encoder) => this.#watchEncoder(encoder));
    this.#watch(device, 'createBuffer', (_, { mappedAtCreation, usage }) => {
      if (mappedAtCreation || usage & BUFFER_USAGE.MAP_READ) this.#isRepeatable = false;
    });
  }

  #watchQueue(): void {
    const { queue } = this.#device;
    this.#watch(queue, 'writeBuffer', (_, buffer, offset, data, dataOffset, size) => {
      if (buffer.usage & BUFFER_USAGE.UNIFORM) {
        const held = this.#written.get(buffer) ?? new Uint8Array(buffer.size);
        held.set(bytesOf(data, dataOffset, size), offset);
        this.#written.set(buffer, held);
      } else this.#isRepeatable = false;
    });
    this.#watch(queue, 'submit', () => {
      for (const step of this.#steps.slice(this.#numSubmitted)) {
        if (!('encode' in step)) step.uniforms = this.#uniformsOf(step);
      }
      this.#numSubmitted = this.#steps.length;
    });
  }

  #watchEncoder(encoder: GPUCommandEncoder): void {
    this.#watch(encoder, 'beginComputePass', (pass) => this.#watchPass(pass));
    this.#watch(encoder, 'copyBufferToBuffer', (_, ...copied) => {
      const [source, , target] = copied;
      if (target.usage & BUFFER_USAGE.MAP_READ) this.#isRepeatable = false;
      this.#keep(source);
      this.#keep(target);
      this.#steps.push({ encode: (again) => again.copyBufferToBuffer(...copied) });
    });
  }

  #watchPass(pass: GPUComputePassEncoder): void {
    let pipeline: GPUComputePipeline | undefined;
    let bindings: GPUBindGroup | null = null;
    const record = (launch: Launch): void => {
      if (pipeline && bindings) this.#steps.push({ pipeline, bindings, launch, uniforms: [] });
      else this.#isRepeatable = false;
    };
    this.#watch(pass, 'setPipeline', (_, next) => {
      pipeline = next;
    });
    this.#watch(pass, 'setBindGroup', (_, index, group, dynamicOffsets) => {
      if (index !== 0 || dynamicOffsets) this.#isRepeatable = false;
      bindings = group;
    });
    this.#watch(pass, 'dispatchWorkgroups', (_, x, y, z) => {
      record((again) => again.dispatchWorkgroups(x, y, z));
    });
    this.#watch(pass, 'dispatchWorkgroupsIndirect', (_, buffer, offset) => {
      this.#keep(buffer);
      record((again) => again.dispatchWorkgroupsIndirect(buffer, offset));
    });
  }

  /** Copies the current contents of a dispatch's uniform buffers, and remembers its other buffers. */
  #uniformsOf({ bindings }: Dispatch): Uniform[] {
    const entries = [...(this.#groups.get(bindings)?.entries ?? [])];
    // The bindings of a group from before the capture are unknown.
    if (entries.length === 0) this.#isRepeatable = false;
    return entries.flatMap(({ binding, resource }) => {
      if (!('buffer' in resource)) {
        this.#isRepeatable = false;
        return [];
      }
      const { buffer, offset = 0, size = buffer.size - offset } = resource;
      const content = this.#written.get(buffer);
      if (content) return [{ binding, content: content.slice(offset, offset + size) }];
      this.#keep(buffer);
      return [];
    });
  }

  /** Remembers a buffer. It is watched from now on, because onnxruntime-web may destroy it as the pass ends. */
  #keep(buffer: GPUBuffer): void {
    watchDestruction(buffer);
    this.#buffers.add(buffer);
  }

  /** Uploads the uniforms of all dispatches into one buffer, in order. */
  #uploadUniforms(): GPUBuffer | undefined {
    const contents = this.#steps.flatMap((step) =>
      'encode' in step ? [] : step.uniforms.map(({ content }) => content),
    );
    const size = contents.reduce((sum, content) => sum + alignedSize(content), 0);
    if (size === 0) return undefined;
    const usage = BUFFER_USAGE.UNIFORM;
    const buffer = this.#device.createBuffer({ size, usage, mappedAtCreation: true });
    const bytes = new Uint8Array(buffer.getMappedRange());
    let offset = 0;
    for (const content of contents) {
      bytes.set(content, offset);
      offset += alignedSize(content);
    }
    buffer.unmap();
    return buffer;
  }

  /** The bindings of a dispatch, with its uniforms in `buffer` from `offset` on. */
  #rebind(
    { bindings, uniforms }: RecordedDispatch,
    buffer: GPUBuffer | undefined,
    offset: number,
  ): GPUBindGroup {
    const descriptor = this.#groups.get(bindings);
    if (!descriptor || !buffer || uniforms.length === 0) return bindings;
    const entries = new Map([...descriptor.entries].map((entry) => [entry.binding, entry]));
    let at = offset;
    for (const { binding, content } of uniforms) {
      const resource = { buffer, offset: at, size: content.byteLength };
      entries.set(binding, { binding, resource });
      at += alignedSize(content);
    }
    return this.#device.createBindGroup({ ...descriptor, entries: [...entries.values()] });
  }

  /** Hands the result and the arguments of each call of a method to `record`, after the call. */
  #watch<Target extends object, Name extends keyof Target>(
    target: Target,
    name: Name,
    record: (...call: Call<Target[Name]>) => void,
  ): void {
    const original: unknown = target[name];
    if (typeof original !== 'function') return;
    const value = (...args: unknown[]): unknown => {
      const result: unknown = Reflect.apply(original, target, args);
      Reflect.apply(record, undefined, [result, ...args]);
      return result;
    };
    Object.defineProperty(target, name, { value, configurable: true });
    this.#restorers.push(() => Reflect.deleteProperty(target, name));
  }
}

function alignedSize({ byteLength }: Uint8Array): number {
  return Math.ceil(byteLength / UNIFORM_ALIGNMENT) * UNIFORM_ALIGNMENT;
}

/** @param dataOffset Like `size`, in elements of a typed array and otherwise in bytes, as `GPUQueue.writeBuffer` counts. */
function bytesOf(data: AllowSharedBufferSource, dataOffset = 0, size?: number): Uint8Array {
  const isView = ArrayBuffer.isView(data);
  const unit = isView && 'BYTES_PER_ELEMENT' in data ? Number(data.BYTES_PER_ELEMENT) : 1;
  const [buffer, start] = isView ? [data.buffer, data.byteOffset] : [data, 0];
  const from = start + dataOffset * unit;
  const length = size === undefined ? start + data.byteLength - from : size * unit;
  return new Uint8Array(buffer, from, length);
}
