import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NEGATION } from '../wasm/test-support.ts';

/** As in a worker that has just started. */
beforeEach(() => {
  vi.resetModules();
});

async function negate(values: readonly number[]): Promise<unknown> {
  const { loadOrt, setBuilds } = await import('./ort.ts');
  const { WASM_BUILD } = await import('./wasm-build.ts');
  const { allocateFloats } = await import('../wasm/ort-heap.ts');
  setBuilds({ wasm: WASM_BUILD });
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
    const { importFactory } = await import('./ort-memory.ts');
    const load = () => Promise.resolve({ url, made: {}, default: () => Promise.reject(new Error('unused')) });
    expect(await importFactory(load, undefined)).toBeUndefined();
  });

  it('another version that names its functions otherwise keeps it', async () => {
    const url = moduleOf(
      'export const made = { module: { HEAPU8: new Uint8Array() } }; export default () => {}',
    );
    const { importFactory, ortMemory } = await import('./ort-memory.ts');
    const load = async () => ({ ...(await import(url)), url });
    expect(await importFactory(load, undefined)).toBe(url);
    expect(ortMemory()).toBeUndefined();
  });
});
