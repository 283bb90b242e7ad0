import { beforeAll, describe, expect, it } from 'vitest';
import { OnnxNodes } from '../../models/graph/onnx-nodes.ts';
import { encodeOnnxModel, type OnnxValue } from '../../models/graph/onnx-proto.ts';
import { isMemoryError } from '../fault-of.ts';
import { loadOrt, type OrtModule } from '../ort.ts';
import { HeapFloats } from './ort-heap.ts';

const VECTOR = { type: 'float32', dims: ['N'] } as const;
const value = (name: string): OnnxValue => ({ name, ...VECTOR });

const nodes = new OnnxNodes();
nodes.add('Neg', ['x'], ['y']);
const NEGATION = encodeOnnxModel({
  name: 'negation',
  nodes: nodes.all,
  inputs: [value('x')],
  outputs: [value('y')],
  initializers: [],
});

const ownPropertiesOfPrototype = JSON.stringify(Reflect.ownKeys(Object.prototype).map(String));

describe('floats in the memory of onnxruntime', () => {
  let ort: OrtModule;

  beforeAll(async () => {
    ort = await loadOrt('wasm');
    ort.env.wasm.numThreads = 1;
  });

  const createSession = () => ort.InferenceSession.create(NEGATION, { executionProviders: ['wasm'] });

  it('are there once a session has been made, by which time every object has its usual properties', async () => {
    expect(() => new HeapFloats(1)).toThrow(/WASM module/);
    await expect(ort.InferenceSession.create(Uint8Array.of(1), {})).rejects.toThrow(/parsing/);
    await createSession();
    expect(() => new HeapFloats(1)).not.toThrow();
    expect(JSON.stringify(Reflect.ownKeys(Object.prototype).map(String))).toBe(ownPropertiesOfPrototype);
  });

  it('are what a run reads, as many as the dimensions say, beside tensors of JavaScript', async () => {
    const session = await createSession();
    const floats = new HeapFloats(3);
    floats.floats.set([1, 2, 3]);
    const run = async (x: InstanceType<OrtModule['Tensor']>) => (await session.run({ x }))['y']?.data;
    expect(await run(floats.tensor(ort, [2]))).toEqual(Float32Array.of(-1, -2));
    floats.floats[1] = 7;
    expect(await run(floats.tensor(ort, [3]))).toEqual(Float32Array.of(-1, -7, -3));
    expect(await run(new ort.Tensor('float32', [4], [1]))).toEqual(Float32Array.of(-4));
  });

  it('stay when the memory grows', () => {
    const floats = new HeapFloats(1);
    floats.floats[0] = 5;
    const before = floats.floats.buffer.byteLength;
    const large = new HeapFloats(before / 4);
    expect(large.floats.buffer.byteLength).toBeGreaterThan(before);
    expect(floats.floats).toEqual(Float32Array.of(5));
  });

  it('leave their place to others when freed', () => {
    for (let i = 0; i < 20; i++) {
      const floats = new HeapFloats(2 ** 27);
      expect(floats.floats).toHaveLength(2 ** 27);
      floats.free();
    }
  });

  it('are refused as a lack of memory where there is no place', () => {
    const refused: unknown[] = [];
    try {
      void new HeapFloats(2 ** 30 - 1);
    } catch (error) {
      refused.push(error);
    }
    expect(refused.map(isMemoryError)).toEqual([true]);
  });
});
