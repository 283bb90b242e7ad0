import { describe, expect, it } from 'vitest';
import { FakeGpu, type FakeBuffer } from '../../testing/fake-gpu.ts';
import { BUFFER_USAGE, TENSOR_USAGE } from '../gpu-sampler/gpu-flags.ts';
import { capturePass } from './capture-pass.ts';
import { watchShaders } from './shader-sources.ts';

interface Shader {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly uniforms: Readonly<Record<string, number>>;
  readonly code?: string;
}

/** The beginnings of onnxruntime-web's shaders, by their names. */
const product = (numRows: number, numInputs: number, numOutputs: number): Shader => ({
  reads: ['a', 'b'],
  writes: ['output'],
  uniforms: { dim_a_outer: numRows, dim_b_outer: numOutputs, dim_inner: numInputs },
  code: 'fn mm_readB(row: i32) { if(row < i32(uniforms.dim_b_outer)) {} }',
});
/** Its sums are of several dispatches. */
const ATOMIC: Shader = {
  ...product(1, 8, 8),
  code: `${product(1, 8, 8).code}\n// var<storage, read_write> output: array<atomic<u32>>;`,
};
const norm = (width: number, ...more: readonly string[]): Shader => ({
  reads: ['x', 'skip', 'gamma', ...more],
  writes: ['output', 'input_skip_bias_sum'],
  uniforms: { hidden_size: width },
});
const SILU: Shader = { reads: ['x'], writes: ['y'], uniforms: { vec_size: 8 } };
const MUL: Shader = { reads: ['input_a', 'input_b'], writes: ['output'], uniforms: { vec_size: 8 } };
const ATTENTION: Shader = { reads: ['input'], writes: ['output'], uniforms: { rows: 1 } };

/** A pass of onnxruntime-web's. */
class Pass {
  readonly gpu = new FakeGpu();
  readonly #buffers = new Map<string, FakeBuffer>();
  readonly #commands: (() => void)[] = [];

  constructor() {
    watchShaders(this.gpu.device);
  }

  /** @param names Of the buffers that it reads, then of those that it writes. */
  add(label: string, { reads, writes, uniforms, code = '' }: Shader, ...names: readonly string[]): this {
    const { device } = this.gpu;
    const variables = [...reads, ...writes].map((name, i) => {
      const access = i < reads.length ? 'read' : 'read_write';
      return `@binding(${i}) var<storage, ${access}> ${name}: array<vec4<f32>>;`;
    });
    const fields = Object.keys(uniforms).map((name) => `${name}: u32`);
    const source = `${variables.join('\n')}\nstruct Uniforms {${fields.join(', ')}};\n${code}`;
    const module = device.createShaderModule({ label, code: source });
    const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } });
    const parameters = this.gpu.createBuffer(16, BUFFER_USAGE.UNIFORM | BUFFER_USAGE.COPY_DST);
    const buffers = [...names.map((name) => this.#buffer(name)), parameters];
    this.#commands.push(() => {
      device.queue.writeBuffer(parameters.asBuffer, 0, Uint32Array.from(Object.values(uniforms)));
      const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer: buffer.asBuffer } }));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout: this.gpu.layout, entries }));
      pass.dispatchWorkgroups(1);
      pass.end();
      device.queue.submit([encoder.finish()]);
    });
    return this;
  }

  /** The replayed dispatches, with the names of the buffers. Those of fused products have letters. */
  async replayed(): Promise<readonly string[]> {
    const { device, submitted, buffers } = this.gpu;
    const captured = await capturePass(device, () => {
      for (const run of this.#commands) run();
      return Promise.resolve();
    });
    const numBefore = submitted.length;
    const encoder = device.createCommandEncoder();
    captured?.encode(encoder);
    device.queue.submit([encoder.finish()]);
    const names = new Map([...this.#buffers].map(([name, buffer]) => [buffer.name, name]));
    const own = buffers.filter(({ usage }) => usage === BUFFER_USAGE.STORAGE);
    for (const [i, { name }] of own.entries()) names.set(name, 'ABCDEFG'[i] ?? '');
    return submitted
      .slice(numBefore)
      .map((line) => line.replaceAll(/buffer \d+/g, (name) => names.get(name) ?? name).replace(/ on .*/, ''));
  }

  #buffer(name: string): FakeBuffer {
    const buffer = this.#buffers.get(name) ?? this.gpu.createBuffer(64, TENSOR_USAGE);
    this.#buffers.set(name, buffer);
    return buffer;
  }
}

/** A layer of Llama's, in buffers that serve several values. */
function layer(numRows = 1, gain = norm(8)): Pass {
  return new Pass()
    .add('Attention', ATTENTION, 'qkv', 'x0')
    .add('Gemm', product(numRows, 8, 8), 'x0', 'o', 'x1')
    .add('SkipLayerNorm', gain, 'x1', 'stream', 'gain', ...gain.reads.slice(3), 'x2', 'sum')
    .add('Gemm', product(numRows, 8, 16), 'x2', 'gate', 'x3')
    .add('QuickGelu', SILU, 'x3', 'x4')
    .add('Gemm', product(numRows, 8, 16), 'x2', 'up', 'x5')
    .add('Mul', MUL, 'x4', 'x5', 'x3')
    .add('Gemm', product(numRows, 16, 8), 'x3', 'down', 'x1')
    .add('SkipLayerNorm', norm(8), 'x1', 'sum', 'last gain', 'x2', 'stream')
    .add('Gather', ATTENTION, 'x2', 'x0');
}

describe('products of a captured pass', () => {
  it('are one dispatch with the norm before them, and with the gate or the residual sum behind them', async () => {
    expect(await layer().replayed()).toEqual([
      'Attention (qkv, x0, 1)',
      'Product (x0, o, stream, A)',
      'Product (A, gain, gate, up, B)',
      'Gemm (B, down, x1, 1)',
      // Something else than a product reads the normalized values.
      'SkipLayerNorm (x1, A, last gain, x2, stream, 8)',
      'Gather (x2, x0, 1)',
    ]);
  });

  it('add the bias of the norm or of the activation behind them', async () => {
    const [, sum] = await layer(1, norm(8, 'beta', 'bias')).replayed();
    expect(sum).toBe('Product (x0, o, bias, stream, A)');
  });

  it('write over the values of an earlier product once nothing reads them', async () => {
    const pass = new Pass().add('Gemm', product(1, 8, 8), 'x', 'first', 'a');
    for (const [i, next] of ['second', 'third', 'fourth', 'fifth'].entries())
      pass.add('FastGelu', SILU, 'a', 'b').add('Gemm', product(1, 8, 8), 'b', next, i === 3 ? 'last' : 'a');
    expect(await pass.replayed()).toEqual([
      'Product (x, first, A)',
      'Product (A, second, B)',
      'Product (B, third, A)',
      'Product (A, fourth, B)',
      'Gemm (B, fifth, last, 1)',
    ]);
  });

  it.each<[string, Pass]>([
    ['there are many rows', layer(9)],
    [
      'something else reads the product',
      new Pass()
        .add('Gemm', product(1, 8, 8), 'x', 'weights', 'a')
        .add('FastGelu', SILU, 'a', 'b')
        .add('Gather', ATTENTION, 'a', 'c'),
    ],
    [
      'outputs are not fours',
      new Pass().add('Gemm', product(1, 8, 6), 'x', 'weights', 'a').add('FastGelu', SILU, 'a', 'b'),
    ],
    [
      'another dispatch has begun its sums',
      new Pass().add('Gemm', ATOMIC, 'x', 'weights', 'a').add('FastGelu', SILU, 'a', 'b'),
    ],
  ])('are as onnxruntime-web computes them where %s', async (_, pass) => {
    const dispatches = await pass.replayed();
    expect(dispatches).toEqual(dispatches.filter((line) => !line.startsWith('Product')));
    expect(dispatches.length).toBeGreaterThan(1);
  });
});
