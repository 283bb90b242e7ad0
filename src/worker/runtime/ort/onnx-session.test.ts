import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { OrtBuild } from './ort-builds.ts';

const WHOLE = { vendor: 'nvidia', architecture: '', device: '', description: '', isFallbackAdapter: false };

/** A build of the runtime that notes where it makes a session, and refuses with an error. */
function createBuild(name: string, refusal?: string) {
  const made: string[] = [];
  const create = (_: Uint8Array, { executionProviders }: { executionProviders: readonly string[] }) => {
    made.push(`${name} on ${executionProviders.join(', ')}`);
    if (refusal !== undefined) return Promise.reject(new Error(refusal));
    return Promise.resolve({ inputMetadata: [], outputMetadata: [] });
  };
  const module = { env: { wasm: {} }, InferenceSession: { create } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of the runtime that loading a model uses
  return { made, build: { load: () => Promise.resolve(module) } as unknown as OrtBuild };
}

/** Loads a model in a worker whose GPU has this adapter. */
async function load(
  backend: 'auto' | 'webgpu' | 'wasm',
  { info = WHOLE, refusal, generates = false }: { info?: object; refusal?: string; generates?: boolean } = {},
) {
  vi.stubGlobal('navigator', { gpu: { requestAdapter: () => Promise.resolve({ info }) } });
  vi.stubGlobal('WebAssembly', Object.assign(Object.create(WebAssembly), { Suspending: Object }));
  const [webgpu, wasm] = [createBuild('WebGPU build', refusal), createBuild('CPU build')];
  const { loadOrt, setBuilds } = await import('./ort.ts');
  setBuilds({ webgpu: webgpu.build, wasm: wasm.build });
  if (generates) await loadOrt();
  const { loadOnnxModel } = await import('./onnx-model.ts');
  const model = loadOnnxModel(new Blob(['']), { backend })();
  return { made: () => [...webgpu.made, ...wasm.made], model };
}

beforeEach(() => vi.resetModules());

describe('an ONNX model runs', () => {
  const refusal = 'No Op registered for Scaler with domain_version of 1';

  it('on the GPU where any backend will do', async () => {
    const { made, model } = await load('auto');
    expect(await model).toHaveProperty('backend', 'webgpu');
    expect(made()).toEqual(['WebGPU build on webgpu']);
  });

  it('on the CPU where the adapter is software', async () => {
    const { made, model } = await load('auto', { info: { ...WHOLE, description: 'SwiftShader' } });
    expect(await model).toHaveProperty('backend', 'wasm');
    expect(made()).toEqual(['CPU build on wasm']);
  });

  it('on the CPU where WebGPU lacks an operator', async () => {
    const { made, model } = await load('auto', { refusal });
    expect(await model).toHaveProperty('backend', 'wasm');
    expect(made()).toEqual(['WebGPU build on webgpu', 'CPU build on wasm']);
  });

  it('on the whole build for the CPU where the generator runs on the build for WebGPU, which lacks operators', async () => {
    const { made, model } = await load('wasm', { refusal, generates: true });
    expect(await model).toHaveProperty('backend', 'wasm');
    expect(made()).toEqual(['WebGPU build on wasm', 'CPU build on wasm']);
  });

  it('nowhere else where WebGPU is asked for, and the error names the CPU', async () => {
    const { model } = await load('webgpu', { refusal });
    await expect(model).rejects.toMatchObject({
      code: 'ONNX_MODEL_FAILED',
      message: expect.stringMatching(/Scaler.*Load it with `backend: 'wasm'`/),
    });
  });
});
