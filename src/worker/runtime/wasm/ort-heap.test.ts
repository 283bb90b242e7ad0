import { beforeAll, describe, expect, it } from 'vitest';
import { isMemoryError } from '../faults/fault-of.ts';
import { loadOrt, setBuilds, type OrtModule } from '../ort/ort.ts';
import { WASM_BUILD } from '../ort/wasm-build.ts';
import { allocateFloats } from './ort-heap.ts';
import { ortMemory } from '../ort/ort-memory.ts';
import { NEGATION } from './test-support.ts';

describe('floats in the memory of onnxruntime', () => {
  let ort: OrtModule;

  beforeAll(async () => {
    setBuilds({ wasm: WASM_BUILD });
    ort = await loadOrt('wasm');
    ort.env.wasm.numThreads = 1;
  });

  const createSession = () => ort.InferenceSession.create(NEGATION, { executionProviders: ['wasm'] });

  it('lie in it once a session has been made', async () => {
    expect(ortMemory()).toBeUndefined();
    await createSession();
    expect(allocateFloats(1).floats.buffer).toBe(ortMemory()?.buffer);
  });

  it('are what a run reads, as many as the dimensions say, beside tensors of JavaScript', async () => {
    const session = await createSession();
    const floats = allocateFloats(3);
    floats.floats.set([1, 2, 3]);
    const run = async (x: InstanceType<OrtModule['Tensor']>) => (await session.run({ x }))['y']?.data;
    expect(await run(floats.tensor(ort, [2]))).toEqual(Float32Array.of(-1, -2));
    floats.floats[1] = 7;
    expect(await run(floats.tensor(ort, [3]))).toEqual(Float32Array.of(-1, -7, -3));
    expect(await run(new ort.Tensor('float32', [4], [1]))).toEqual(Float32Array.of(-4));
  });

  it('stay when the memory grows', () => {
    const floats = allocateFloats(1);
    floats.floats[0] = 5;
    const before = floats.floats.buffer.byteLength;
    const large = allocateFloats(before / 4);
    expect(large.floats.buffer.byteLength).toBeGreaterThan(before);
    expect(floats.floats).toEqual(Float32Array.of(5));
  });

  it('leave their place to others when freed', () => {
    for (let i = 0; i < 20; i++) {
      const floats = allocateFloats(2 ** 27);
      expect(floats.floats).toHaveLength(2 ** 27);
      floats.free();
    }
  });

  it('are refused as a lack of memory where there is no place', () => {
    const refused: unknown[] = [];
    try {
      allocateFloats(2 ** 30 - 1);
    } catch (error) {
      refused.push(error);
    }
    expect(refused.map(isMemoryError)).toEqual([true]);
  });
});
