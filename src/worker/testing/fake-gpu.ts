import { BUFFER_USAGE } from '../runtime/gpu-sampler/gpu-flags.ts';

/** A buffer with bytes and a name. */
export class FakeBuffer {
  readonly name: string;
  readonly size: number;
  readonly usage: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  isDestroyed = false;

  constructor(name: string, { size, usage }: GPUBufferDescriptor) {
    this.name = name;
    this.size = size;
    this.usage = usage;
    this.bytes = new Uint8Array(size);
  }

  get asBuffer(): GPUBuffer {
    return as<GPUBuffer>(this);
  }

  getMappedRange(): ArrayBuffer {
    return this.bytes.buffer;
  }

  unmap(): void {}

  destroy(): void {
    this.isDestroyed = true;
  }
}

/** A GPU for tests that logs each submitted command. It logs a uniform buffer as the number that the buffer holds at that time. */
export class FakeGpu {
  readonly buffers: FakeBuffer[] = [];
  /** One line per submitted command. */
  readonly submitted: string[] = [];
  readonly device = as<GPUDevice>(new FakeDevice(this));
  readonly layout = as<GPUBindGroupLayout>({});
  readonly oldGroup = as<GPUBindGroup>({ entries: [] });

  pipeline(label: string): GPUComputePipeline {
    return as<GPUComputePipeline>({ label });
  }

  createBuffer(size: number, usage: number): FakeBuffer {
    const buffer = new FakeBuffer(`buffer ${this.buffers.length}`, { size, usage });
    this.buffers.push(buffer);
    return buffer;
  }
}

/** Called when the command is submitted. Returns its line in the log. */
type Command = () => string;

class FakeDevice {
  readonly queue: FakeQueue;
  readonly #gpu: FakeGpu;

  constructor(gpu: FakeGpu) {
    this.#gpu = gpu;
    this.queue = new FakeQueue(gpu);
  }

  createBuffer({ size, usage }: GPUBufferDescriptor): FakeBuffer {
    return this.#gpu.createBuffer(size, usage);
  }

  createBindGroup({ entries }: GPUBindGroupDescriptor): { readonly entries: readonly GPUBindGroupEntry[] } {
    return { entries: [...entries] };
  }

  createCommandEncoder(): FakeEncoder {
    return new FakeEncoder();
  }
}

class FakeQueue {
  readonly #gpu: FakeGpu;

  constructor(gpu: FakeGpu) {
    this.#gpu = gpu;
  }

  writeBuffer({ bytes }: FakeBuffer, offset: number, data: Uint8Array): void {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
  }

  submit(buffers: readonly (readonly Command[])[]): void {
    this.#gpu.submitted.push(...buffers.flat().map((command) => command()));
  }
}

class FakeEncoder {
  readonly #commands: Command[] = [];

  beginComputePass(): FakePass {
    return new FakePass(this.#commands);
  }

  clearBuffer(buffer: FakeBuffer, offset: number, size: number): void {
    this.#commands.push(() => `clear ${buffer.name} ${offset} ${size}`);
  }

  copyBufferToBuffer(source: FakeBuffer, from: number, target: FakeBuffer, to: number, size: number): void {
    this.#commands.push(() => `copy ${source.name} ${from} ${target.name} ${to} ${size}`);
  }

  finish(): readonly Command[] {
    return this.#commands;
  }
}

interface FakeEntry {
  readonly resource: { readonly buffer: FakeBuffer; readonly offset?: number };
}

class FakePass {
  readonly #commands: Command[];
  #label = '';
  #entries: readonly FakeEntry[] = [];

  constructor(commands: Command[]) {
    this.#commands = commands;
  }

  setPipeline({ label }: { readonly label: string }): void {
    this.#label = label;
  }

  setBindGroup(_: number, { entries }: { readonly entries: readonly FakeEntry[] }): void {
    this.#entries = entries;
  }

  dispatchWorkgroups(...counts: readonly number[]): void {
    this.#dispatch(counts.join(' x '));
  }

  dispatchWorkgroupsIndirect({ name }: FakeBuffer, offset: number): void {
    this.#dispatch(`the counts in ${name} at ${offset}`);
  }

  end(): void {}

  #dispatch(counts: string): void {
    const [label, entries] = [this.#label, this.#entries];
    this.#commands.push(() => {
      const bound = entries.map(({ resource: { buffer, offset = 0 } }) =>
        buffer.usage & BUFFER_USAGE.UNIFORM
          ? new DataView(buffer.bytes.buffer).getUint32(offset, true)
          : buffer.name,
      );
      return `${label} (${bound.join(', ')}) on ${counts}`;
    });
  }
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it stands for a cast
function as<Type>(fake: object): Type {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fake has the methods that a capture uses
  return fake as Type;
}
