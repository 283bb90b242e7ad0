import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NEGATION } from '../wasm/test-support.ts';

/** As in a worker that has just started. */
beforeEach(() => {
  vi.resetModules();
});

async function negate(values: readonly number[]): Promise<unknown> {
  const { loadOrt } = await import('./ort.ts');
  const { allocateFloats } = await import('../wasm/ort-heap.ts');
  const ort = await loadOrt('wasm');
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(NEGATION, { executionProviders: ['wasm'] });
  const x = allocateFloats(values.length + 1);
  x.floats.set(values);
  return (await session.run({ x: x.tensor(ort, [values.length]) }))['y']?.data;
}

const moduleOf = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

describe('where the memory of onnxruntime cannot be had', () => {
  it('onnxruntime runs with arrays of JavaScript', async () => {
    vi.doMock('./ort-factory.ts', () => ({ url: 'file:///nowhere.js', made: {}, default: () => {} }));
    expect(await negate([1, 2])).toEqual(Float32Array.of(-1, -2));
    const { ortMemory } = await import('./ort-memory.ts');
    expect(ortMemory()).toBeUndefined();
  });

  it('onnxruntime is left alone: another module lies at the address of the factory', async () => {
    const url = moduleOf('export const made = {}; export default () => {}');
    vi.doMock('./ort-factory.ts', () => ({ url, made: {}, default: () => {} }));
    const { importFactory } = await import('./ort-memory.ts');
    expect(await importFactory(undefined)).toBeUndefined();
  });

  it('another version that names its functions otherwise keeps it', async () => {
    const url = moduleOf(
      'export const made = { module: { HEAPU8: new Uint8Array() } }; export default () => {}',
    );
    vi.doMock('./ort-factory.ts', async () => ({ ...(await import(url)), url }));
    const { importFactory, ortMemory } = await import('./ort-memory.ts');
    expect(await importFactory(undefined)).toBe(url);
    expect(ortMemory()).toBeUndefined();
  });
});
