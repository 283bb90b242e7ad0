import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as ImportPart from '../../base/import-part.ts';
import { isFault } from '../faults/fault-of.ts';
import { errorWith } from '../../testing/error-with.ts';

const parts = vi.hoisted(() => ({ create: (): Promise<unknown> => Promise.resolve({}) }));

vi.mock('onnxruntime-web/wasm', () => ({
  env: { wasm: {} },
  InferenceSession: { create: () => parts.create() },
}));

/** As in a worker that has just started. */
beforeEach(() => {
  vi.resetModules();
  vi.doUnmock('../../base/import-part.ts');
});

/** Of a worker that ships the CPU's build alone. */
async function importOrt() {
  const ort = await import('./ort.ts');
  ort.setBuilds({ wasm: { load: () => import('onnxruntime-web/wasm') } });
  return ort;
}

describe('the build of onnxruntime-web that a worker loads', () => {
  it('chooses the number of its threads by itself', async () => {
    const { ortInUse } = await importOrt();
    expect((await ortInUse()).env.wasm).not.toHaveProperty('numThreads');
  });

  it('has one thread where threads have failed, whoever creates the first session', async () => {
    const { ortInUse, forbidThreads } = await importOrt();
    forbidThreads();
    expect((await ortInUse()).env.wasm.numThreads).toBe(1);
  });

  it('is a part of the page: one that cannot be fetched is no fault of what the model runs on', async () => {
    vi.doMock('../../base/import-part.ts', async (importOriginal) => {
      const { importPart } = await importOriginal<typeof ImportPart>();
      return { importPart: () => importPart(() => Promise.reject(new TypeError('Failed to fetch'))) };
    });
    const { ortInUse } = await importOrt();
    const cause: unknown = await ortInUse().catch((error: unknown) => error);
    expect(cause).toMatchObject({ code: 'PAGE_OUTDATED' });
    expect(isFault(cause)).toBe(false);
  });

  it('takes its .wasm file from the folder that the app names', async () => {
    const { ortInUse, setRuntimeFolder } = await importOrt();
    setRuntimeFolder('https://app.example/onnxruntime');
    expect((await ortInUse()).env.wasm.wasmPaths).toMatchObject({
      wasm: 'https://app.example/onnxruntime/ort-wasm-simd-threaded.wasm',
    });
  });

  it.each([
    'both async and sync fetching of the wasm failed',
    'CompileError: WebAssembly.instantiate(): expected magic word 00 61 73 6d, found 3c 21 64 6f @+0',
  ])('names the option for the folder when its file is missing: %s', async (detail) => {
    parts.create = () =>
      Promise.reject(new Error(`no available backend found. ERR: [wasm] Aborted(${detail})`));
    const { ortInUse } = await importOrt();
    const ort = await ortInUse();
    const cause: unknown = await ort.InferenceSession.create(new Uint8Array(), {}).catch(
      (error: unknown) => error,
    );
    expect(cause).toEqual(errorWith('RUNTIME_FILE_MISSING', 'runtimeUrl'));
    expect(isFault(cause)).toBe(false);
  });

  it('still says that the file is missing when the runtime refuses to be started again', async () => {
    const failures = [
      'both async and sync fetching of the wasm failed',
      'previous call to initWasm() failed',
    ];
    parts.create = () => Promise.reject(new Error(failures.shift()));
    const { ortInUse } = await importOrt();
    const createSession = async (): Promise<unknown> =>
      (await ortInUse()).InferenceSession.create(new Uint8Array(), {});
    await expect(createSession()).rejects.toMatchObject({ code: 'RUNTIME_FILE_MISSING' });
    await expect(createSession()).rejects.toMatchObject({ code: 'RUNTIME_FILE_MISSING' });
  });

  it('passes every other failure on unchanged', async () => {
    const failure = new Error('Aborted(OOM)');
    parts.create = () => Promise.reject(failure);
    const { ortInUse } = await importOrt();
    const ort = await ortInUse();
    await expect(ort.InferenceSession.create(new Uint8Array(), {})).rejects.toBe(failure);
  });

  it('names the directive when a policy forbids WebAssembly', async () => {
    const { ortInUse } = await importOrt();
    vi.spyOn(WebAssembly, 'Module').mockImplementation(() => {
      throw new WebAssembly.CompileError("violates the directive: script-src 'self'");
    });
    const cause: unknown = await ortInUse().catch((error: unknown) => error);
    expect(cause).toEqual(errorWith('WASM_FORBIDDEN', "'wasm-unsafe-eval'"));
    expect(isFault(cause)).toBe(false);
  });
});
