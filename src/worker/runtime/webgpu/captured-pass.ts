export type Launch = (pass: GPUComputePassEncoder) => void;

/** Clears and copies, which are encoded between compute passes. */
export interface Transfer {
  readonly encode: (encoder: GPUCommandEncoder) => void;
}

export interface Dispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindings: GPUBindGroup;
  readonly launch: Launch;
}

/**
 * The commands that a forward pass gave to the GPU, to be given again without onnxruntime-web: describing a pass anew takes the
 * CPU longer than the GPU needs to compute it. Inputs and outputs are the same buffers, with what they hold by then.
 */
export class CapturedPass {
  readonly #commands: readonly (Dispatch | Transfer)[];
  readonly #buffers: ReadonlySet<GPUBuffer>;
  /** What onnxruntime-web had written for the shaders of this pass; it uses its own buffers again for others. */
  readonly #uniforms: GPUBuffer | undefined;

  constructor(
    commands: readonly (Dispatch | Transfer)[],
    buffers: ReadonlySet<GPUBuffer>,
    uniforms: GPUBuffer | undefined,
  ) {
    this.#commands = commands;
    this.#buffers = buffers;
    this.#uniforms = uniforms;
    for (const buffer of buffers) watchDestruction(buffer);
  }

  /** Whether all buffers are still there: onnxruntime-web may give back those of its intermediate results. */
  get isIntact(): boolean {
    for (const buffer of this.#buffers) if (destroyed.has(buffer)) return false;
    return true;
  }

  encode(encoder: GPUCommandEncoder): void {
    let pass: GPUComputePassEncoder | undefined;
    for (const command of this.#commands) {
      if ('encode' in command) {
        pass?.end();
        pass = undefined;
        command.encode(encoder);
        continue;
      }
      pass ??= encoder.beginComputePass();
      pass.setPipeline(command.pipeline);
      pass.setBindGroup(0, command.bindings);
      command.launch(pass);
    }
    pass?.end();
  }

  destroy(): void {
    this.#uniforms?.destroy();
  }
}

const destroyed = new WeakSet<GPUBuffer>();

function watchDestruction(buffer: GPUBuffer): void {
  if (Object.hasOwn(buffer, 'destroy')) return;
  const destroy = buffer.destroy.bind(buffer);
  buffer.destroy = () => {
    destroyed.add(buffer);
    return destroy();
  };
}
