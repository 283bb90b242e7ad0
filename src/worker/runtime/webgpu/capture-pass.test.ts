import { describe, expect, it } from 'vitest';
import { FakeGpu, type FakeBuffer } from '../../testing/fake-gpu.ts';
import { BUFFER_USAGE, TENSOR_USAGE } from '../gpu-sampler/gpu-flags.ts';
import { capturePass } from './capture-pass.ts';
import { CapturedSteps } from './captured-steps.ts';

const UNIFORM_USAGE = BUFFER_USAGE.UNIFORM | BUFFER_USAGE.COPY_DST;

/** A pass like onnxruntime-web's: it writes a uniform buffer, clears a result and dispatches a shader. */
class Pass {
  readonly gpu = new FakeGpu();
  readonly uniforms = this.gpu.createBuffer(16, UNIFORM_USAGE);
  result = this.gpu.createBuffer(64, TENSOR_USAGE);

  run(factor: number, more: (encoder: GPUCommandEncoder) => void = () => {}): Promise<void> {
    const { device } = this.gpu;
    device.queue.writeBuffer(this.uniforms.asBuffer, 0, Uint32Array.of(factor));
    const group = device.createBindGroup({
      layout: this.gpu.layout,
      entries: [
        { binding: 0, resource: { buffer: this.result.asBuffer } },
        { binding: 1, resource: { buffer: this.uniforms.asBuffer } },
      ],
    });
    const encoder = device.createCommandEncoder();
    encoder.clearBuffer(this.result.asBuffer, 0, 64);
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.gpu.pipeline('multiply'));
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(factor, 2, 1);
    pass.end();
    more(encoder);
    device.queue.submit([encoder.finish()]);
    return Promise.resolve();
  }

  /** Replays a capture with a fresh encoder. Returns the commands that reach the GPU. */
  replayed(captured: { encode(encoder: GPUCommandEncoder): void } | undefined): readonly string[] {
    const numBefore = this.gpu.submitted.length;
    const encoder = this.gpu.device.createCommandEncoder();
    captured?.encode(encoder);
    this.gpu.device.queue.submit([encoder.finish()]);
    return this.gpu.submitted.slice(numBefore);
  }
}

describe('a captured pass', () => {
  it('replays its dispatches with the captured uniforms, even after their buffer was overwritten, and no clear', async () => {
    const pass = new Pass();
    const captured = await capturePass(pass.gpu.device, () => pass.run(3));
    const first = [...pass.gpu.submitted];
    expect(first).toEqual([
      `clear ${pass.result.name} 0 64`,
      `multiply (${pass.result.name}, 3) on 3 x 2 x 1`,
    ]);
    await pass.run(5);
    expect(pass.replayed(captured)).toEqual(first.slice(1));
  });

  it('keeps the uniforms of each dispatch, even if all dispatches shared one buffer', async () => {
    const pass = new Pass();
    const captured = await capturePass(pass.gpu.device, async () => {
      await pass.run(3);
      await pass.run(4);
    });
    const dispatches = pass.gpu.submitted.filter((command) => !command.startsWith('clear'));
    expect(pass.replayed(captured)).toEqual(dispatches);
    expect(dispatches[1]).toContain(', 4) on 4');
  });

  it('keeps that part of a uniform buffer that a dispatch is bound to', async () => {
    const pass = new Pass();
    const { device } = pass.gpu;
    const shared = pass.gpu.createBuffer(512, UNIFORM_USAGE);
    const captured = await capturePass(device, () => {
      device.queue.writeBuffer(shared.asBuffer, 0, Uint32Array.of(7));
      device.queue.writeBuffer(shared.asBuffer, 256, Uint32Array.of(9));
      return pass.run(1, (encoder) => {
        const second = encoder.beginComputePass();
        second.setPipeline(pass.gpu.pipeline('add'));
        const resource = { buffer: shared.asBuffer, offset: 256, size: 16 };
        const entries = [{ binding: 0, resource }];
        second.setBindGroup(0, device.createBindGroup({ layout: pass.gpu.layout, entries }));
        second.dispatchWorkgroups(1, 1, 1);
        second.end();
      });
    });
    expect(pass.replayed(captured).at(-1)).toBe('add (9) on 1 x 1 x 1');
  });

  it('replays copies and indirect dispatches', async () => {
    const pass = new Pass();
    const [source, target] = [
      pass.gpu.createBuffer(32, TENSOR_USAGE),
      pass.gpu.createBuffer(32, TENSOR_USAGE),
    ];
    const captured = await capturePass(pass.gpu.device, () =>
      pass.run(1, (encoder) => {
        encoder.copyBufferToBuffer(source.asBuffer, 4, target.asBuffer, 8, 16);
        const indirect = encoder.beginComputePass();
        indirect.setPipeline(pass.gpu.pipeline('add'));
        indirect.setBindGroup(
          0,
          pass.gpu.device.createBindGroup({
            layout: pass.gpu.layout,
            entries: [{ binding: 0, resource: { buffer: target.asBuffer } }],
          }),
        );
        indirect.dispatchWorkgroupsIndirect(source.asBuffer, 12);
        indirect.end();
      }),
    );
    expect(pass.replayed(captured).slice(-2)).toEqual([
      `copy ${source.name} 4 ${target.name} 8 16`,
      `add (${target.name}) on the counts in ${source.name} at 12`,
    ]);
  });

  it.each<[string, (pass: Pass, encoder: GPUCommandEncoder) => void]>([
    [
      'uploads a tensor',
      ({ gpu }) =>
        gpu.device.queue.writeBuffer(gpu.createBuffer(16, TENSOR_USAGE).asBuffer, 0, new Uint8Array(16)),
    ],
    [
      'creates a buffer with contents from the CPU',
      ({ gpu }) => void gpu.device.createBuffer({ size: 16, usage: TENSOR_USAGE, mappedAtCreation: true }),
    ],
    [
      'reads a buffer back',
      ({ gpu, result }, encoder) => {
        const staging = gpu.createBuffer(64, BUFFER_USAGE.MAP_READ | BUFFER_USAGE.COPY_DST);
        encoder.copyBufferToBuffer(result.asBuffer, 0, staging.asBuffer, 0, 64);
      },
    ],
    [
      'uses a bind group from before the capture',
      ({ gpu }, encoder) => {
        const pass = encoder.beginComputePass();
        pass.setPipeline(gpu.pipeline('old'));
        pass.setBindGroup(0, gpu.oldGroup);
        pass.dispatchWorkgroups(1, 1, 1);
        pass.end();
      },
    ],
  ])('is not made from a pass that %s', async (_, act) => {
    const pass = new Pass();
    expect(
      await capturePass(pass.gpu.device, () => pass.run(3, (encoder) => act(pass, encoder))),
    ).toBeUndefined();
  });

  it('restores the device, even if the pass fails', async () => {
    const { gpu } = new Pass();
    const before = [Object.keys(gpu.device), Object.keys(gpu.device.queue)];
    await expect(capturePass(gpu.device, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect([Object.keys(gpu.device), Object.keys(gpu.device.queue)]).toEqual(before);
  });
});

/** Runs a step as the backend does. Returns whether a capture replaced the run. */
async function step(steps: CapturedSteps, pass: Pass, shape = '8 rows'): Promise<'replayed' | 'run'> {
  if (steps.find(shape)) return 'replayed';
  await steps.run(shape, () => pass.run(3));
  return 'run';
}

describe('captured steps', () => {
  it('run the first time, are captured the second time and are replayed from then on', async () => {
    const pass = new Pass();
    const steps = new CapturedSteps(pass.gpu.device);
    const outcomes = [];
    for (let time = 0; time < 4; time++) outcomes.push(await step(steps, pass));
    expect(outcomes).toEqual(['run', 'run', 'replayed', 'replayed']);
    expect(await step(steps, pass, '9 rows')).toBe('run');
  });

  it('are captured again after onnxruntime-web destroys one of their buffers', async () => {
    const pass = new Pass();
    const steps = new CapturedSteps(pass.gpu.device);
    for (let time = 0; time < 3; time++) await step(steps, pass);
    pass.result.asBuffer.destroy();
    pass.result = pass.gpu.createBuffer(64, TENSOR_USAGE);
    expect(await step(steps, pass)).toBe('run');
    expect(await step(steps, pass)).toBe('replayed');
  });

  it('are not replayed if onnxruntime-web destroys one of their buffers at the end of the captured pass', async () => {
    const pass = new Pass();
    const steps = new CapturedSteps(pass.gpu.device);
    await step(steps, pass);
    await steps.run('8 rows', async () => {
      await pass.run(3);
      pass.result.asBuffer.destroy();
    });
    expect(steps.find('8 rows')).toBeUndefined();
  });

  it('run every time if they cannot be replayed', async () => {
    const pass = new Pass();
    const steps = new CapturedSteps(pass.gpu.device);
    const upload = (): Promise<void> => {
      pass.gpu.device.queue.writeBuffer(pass.result.asBuffer, 0, new Uint8Array(16));
      return pass.run(3);
    };
    for (let time = 0; time < 3; time++) {
      expect(steps.find('8 rows')).toBeUndefined();
      await steps.run('8 rows', upload);
    }
  });

  it('free their uniforms when they are cleared, and when they are the least recently used of too many', async () => {
    const pass = new Pass();
    const steps = new CapturedSteps(pass.gpu.device);
    const capturedUniforms = (): readonly FakeBuffer[] =>
      pass.gpu.buffers.filter(({ usage }) => usage === BUFFER_USAGE.UNIFORM);
    for (let shape = 0; shape < 20; shape++) {
      await step(steps, pass, `${shape} rows`);
      await step(steps, pass, `${shape} rows`);
    }
    expect(capturedUniforms().filter(({ isDestroyed }) => !isDestroyed)).toHaveLength(16);
    expect(await step(steps, pass, '0 rows')).toBe('run');
    expect(await step(steps, pass, '19 rows')).toBe('replayed');
    steps.clear();
    expect(capturedUniforms().every(({ isDestroyed }) => isDestroyed)).toBe(true);
  });
});
