import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseDevice } from './create-backend.ts';
import { setBuilds } from '../ort/ort.ts';
import { WASM_BUILD } from '../ort/wasm-build.ts';
import { WEBGPU_BUILD } from '../ort/webgpu-build.ts';
import { type WorkerPast, NO_PAST } from '../../../protocol/recovery.ts';

interface Machine {
  /** Undefined: the browser has no WebGPU. Null: it has, and no adapter. */
  readonly adapter?:
    | { readonly features: readonly string[]; readonly isRefusing?: boolean; readonly isSoftware?: boolean }
    | null
    | undefined;
  readonly isIsolated?: boolean;
  readonly isSecure?: boolean;
  readonly isShared?: boolean;
  readonly numCores?: number;
  readonly hasJspi?: boolean;
}

const forever = (): Promise<never> => new Promise<never>(() => {});

const LIMITS = new Proxy({}, { get: () => 1 });

function pretend({
  adapter,
  isIsolated = true,
  isSecure = true,
  isShared = true,
  numCores = 8,
  hasJspi = true,
}: Machine): void {
  const requestDevice = ({ requiredFeatures = [] }: GPUDeviceDescriptor) =>
    adapter?.isRefusing
      ? Promise.reject(new Error('no room'))
      : Promise.resolve({ features: new Set(requiredFeatures), limits: LIMITS });
  const offered = adapter && {
    features: new Set(adapter.features),
    limits: LIMITS,
    info: {
      description: adapter.isSoftware ? 'SwiftShader' : 'a GPU',
      vendor: '',
      architecture: '',
      device: '',
    },
    requestDevice,
  };
  const gpu = adapter === undefined ? undefined : { requestAdapter: () => Promise.resolve(offered) };
  vi.stubGlobal('navigator', { gpu, hardwareConcurrency: numCores });
  vi.stubGlobal('crossOriginIsolated', isIsolated);
  vi.stubGlobal('isSecureContext', isSecure);
  vi.stubGlobal('SharedArrayBuffer', SharedArrayBuffer);
  if (!isShared) Reflect.deleteProperty(globalThis, 'SharedArrayBuffer');
  vi.stubGlobal('WebAssembly', hasJspi ? { Suspending: Object } : {});
}

const leaving = (...rungs: WorkerPast['leftRungs'][number]['rung'][]): WorkerPast => ({
  ...NO_PAST,
  leftRungs: rungs.map((rung) => ({ rung, reason: `${rung} failed` })),
});

const FP16 = { adapter: { features: ['shader-f16'] } };
const FP32 = { adapter: { features: [] } };
const SOFTWARE = { adapter: { features: ['shader-f16'], isSoftware: true } };

beforeEach(() => setBuilds({ webgpu: WEBGPU_BUILD, wasm: WASM_BUILD }));
afterEach(() => void vi.unstubAllGlobals());

describe('chooseDevice', () => {
  it.each([
    ['a GPU with fp16', FP16, 'webgpu-fp16', ''],
    ['a GPU without fp16', FP32, 'webgpu-fp32', 'the GPU adapter has no shader-f16'],
    ['a GPU that refuses', { adapter: { features: [], isRefusing: true } }, 'wasm-threads', 'no room'],
    [
      'a software adapter alone',
      SOFTWARE,
      'wasm-threads',
      'computes on the CPU, where our own kernels are faster',
    ],
    ['no adapter', { adapter: null }, 'wasm-threads', 'the browser found no GPU adapter'],
    [
      'a GPU, and a browser without JSPI',
      { ...FP16, hasJspi: false },
      'wasm-threads',
      "lacks WebAssembly's JSPI",
    ],
    ['no WebGPU', {}, 'wasm-threads', 'has no navigator.gpu'],
    [
      'a page over plain http',
      { isSecure: false, isIsolated: false },
      'wasm',
      "WebGPU isn't available: browsers offer it to pages over https and of localhost alone",
    ],
    ['a page that is not isolated', { isIsolated: false }, 'wasm', "isn't cross-origin isolated"],
    ['a browser without shared memory', { isShared: false }, 'wasm', 'has no SharedArrayBuffer'],
    ['two cores, of which one is for WASM', { numCores: 2 }, 'wasm', 'has no navigator.gpu'],
  ] as const)(
    'takes the best that there is with %s, and says why no better one',
    async (_, machine, rung, reason) => {
      pretend(machine);
      const device = await chooseDevice('auto');
      expect(device.rung).toBe(rung);
      expect(device.fallbackReason).toContain(reason);
    },
  );

  it('takes the next rung with each that was left, and says why each was', async () => {
    pretend(FP16);
    const rungs = ['webgpu-fp16', 'webgpu-fp32', 'wasm-threads', 'wasm'] as const;
    for (const [index, rung] of rungs.entries()) {
      const device = await chooseDevice('auto', leaving(...rungs.slice(0, index)));
      expect(device.rung).toBe(rung);
      expect(device.fallbackReason).toBe(
        rungs
          .slice(0, index)
          .map((left) => `${left} failed`)
          .join('. '),
      );
    }
  });

  it.each([
    ['for an adapter', { requestAdapter: forever }, 'gave no answer'],
    [
      'an adapter for a device',
      {
        requestAdapter: () =>
          Promise.resolve({ features: new Set(), limits: LIMITS, info: {}, requestDevice: forever }),
      },
      'gave no device',
    ],
  ])('takes the next rung where the browser is asked %s and never answers', async (_, gpu, reason) => {
    vi.useFakeTimers();
    pretend({});
    vi.stubGlobal('navigator', { gpu, hardwareConcurrency: 8 });
    const chosen = chooseDevice('auto', leaving('webgpu-fp16'));
    await vi.advanceTimersByTimeAsync(181_000);
    const { rung, fallbackReason } = await chosen;
    vi.useRealTimers();
    expect(rung).toBe('wasm-threads');
    expect(fallbackReason).toContain(reason);
  });

  it('advises ?backend=wasm where WebGPU was asked for, and never to a page that runs on WASM', async () => {
    pretend({ adapter: null });
    await expect(chooseDevice('webgpu')).rejects.toThrow('?backend=wasm');
    const { fallbackReason } = await chooseDevice('auto');
    expect(fallbackReason).toBe("WebGPU isn't available: the browser found no GPU adapter");
  });

  it('runs on the CPU alone where the worker ships the build for it alone, and says why', async () => {
    pretend({ ...FP16, hasJspi: false });
    setBuilds({ wasm: WASM_BUILD });
    const device = await chooseDevice('auto');
    expect(device.rung).toBe('wasm-threads');
    expect(device.fallbackReason).toContain('tabserve/worker-wasm alone');
    await expect(chooseDevice('webgpu')).rejects.toMatchObject({
      code: 'NO_WEBGPU_ADAPTER',
      message: expect.stringContaining('Import tabserve/worker in'),
    });
  });

  it('runs on the CPU without a build of onnxruntime-web that runs here', async () => {
    pretend({ hasJspi: false });
    setBuilds({ webgpu: WEBGPU_BUILD });
    expect((await chooseDevice('auto')).rung).toBe('wasm-threads');
  });

  it('asks for no feature that its rung does not use', async () => {
    pretend(FP16);
    const device = await chooseDevice('auto', leaving('webgpu-fp16'));
    expect(device.runtime.limits.encodings).not.toContain('float16');
  });

  it('has threads where the rung has, one for every two cores', async () => {
    pretend({ numCores: 6 });
    expect(await chooseDevice('wasm')).toMatchObject({ rung: 'wasm-threads', runtime: { numThreads: 3 } });
    expect(await chooseDevice('wasm', leaving('wasm-threads'))).toMatchObject({
      rung: 'wasm',
      runtime: { numThreads: 1 },
    });
  });

  it('takes a software adapter only where WebGPU is asked for', async () => {
    pretend(SOFTWARE);
    expect((await chooseDevice('webgpu')).rung).toBe('webgpu-fp16');
    expect((await chooseDevice('auto')).fallbackReason).toBe(
      'The only GPU adapter, SwiftShader, computes on the CPU, where our own kernels are faster',
    );
  });

  it('keeps to WebGPU where that was asked for, and fails where there is none', async () => {
    pretend({ adapter: null });
    await expect(chooseDevice('webgpu')).rejects.toMatchObject({ code: 'NO_WEBGPU_ADAPTER' });
    pretend(FP32);
    await expect(chooseDevice('webgpu', leaving('webgpu-fp32'))).rejects.toThrow('webgpu-fp32 failed');
  });

  it('does not pass over a rung that the worker before was on: its adapter may come back', async () => {
    pretend({ adapter: null });
    const recovery = { kind: 'device-lost', message: '', rung: 'webgpu-fp32', attempt: 1 } as const;
    await expect(chooseDevice('auto', { ...NO_PAST, recovery })).rejects.toThrow(
      'The GPU adapter disappeared',
    );
    const left = leaving('webgpu-fp16', 'webgpu-fp32');
    expect((await chooseDevice('auto', { ...left, recovery })).rung).toBe('wasm-threads');
  });
});
