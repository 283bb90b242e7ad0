export type Launch = (pass: GPUComputePassEncoder) => void;

/** A copy, which is encoded between compute passes. */
export interface Transfer {
  readonly encode: (encoder: GPUCommandEncoder) => void;
}

export interface Dispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindings: GPUBindGroup;
  readonly launch: Launch;
}

/**
 * The GPU commands of a forward pass, replayed without onnxruntime-web, which takes longer to describe a pass than the GPU takes
 * to compute it. A replay uses the same input and output buffers, with their current contents.
 */
export type CapturedPass = ReturnType<typeof replayOf>;

/**
 * @param buffers All buffers of the pass. The caller has called `watchDestruction` for each.
 * @param uniforms Copies of this pass's uniforms: onnxruntime-web reuses its own uniform buffers for other passes.
 */
export function replayOf(
  commands: readonly (Dispatch | Transfer)[],
  buffers: ReadonlySet<GPUBuffer>,
  uniforms: GPUBuffer | undefined,
) {
  return {
    /** Whether all buffers still exist: onnxruntime-web may destroy those of its intermediate results. */
    get isIntact(): boolean {
      for (const buffer of buffers) if (destroyed.has(buffer)) return false;
      return true;
    },

    encode(encoder: GPUCommandEncoder): void {
      let pass: GPUComputePassEncoder | undefined;
      for (const command of commands) {
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
    },

    destroy: () => uniforms?.destroy(),
  };
}

const destroyed = new WeakSet<GPUBuffer>();

/** Notes when a buffer is destroyed, for `CapturedPass.isIntact`. */
export function watchDestruction(buffer: GPUBuffer): void {
  if (Object.hasOwn(buffer, 'destroy')) return;
  const destroy = buffer.destroy.bind(buffer);
  buffer.destroy = () => {
    destroyed.add(buffer);
    return destroy();
  };
}
