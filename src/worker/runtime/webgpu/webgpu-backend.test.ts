import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StepHangError } from '../faults/runtime-errors.ts';
import { ScriptedBackend } from '../../testing/scripted-backend.ts';
import { WebGpuBackend } from './webgpu-backend.ts';

// Tests how a backend is created, from parts that the test controls. End-to-end tests check what it computes.

/** Open error scopes of the device. */
const scopes: string[] = [];

const parts = vi.hoisted(() => ({
  /** The filter of the error that the GPU has while a session is created. */
  failing: '',
  session: (): Promise<unknown> => Promise.resolve({}),
  sampler: (): Promise<unknown> => Promise.resolve({}),
}));

vi.mock('../ort/ort.ts', () => ({
  loadOrt: () => Promise.resolve({ InferenceSession: { create: () => parts.session() } }),
  ortMutex: { run: (task: () => Promise<unknown>) => task() },
}));
vi.mock('../../models/onnx/write-graph.ts', () => ({ writeGraph: () => new Uint8Array() }));
vi.mock('../gpu-sampler/gpu-sampler.ts', () => ({ GpuSampler: { create: () => parts.sampler() } }));

type Options = Parameters<typeof WebGpuBackend.create>[0];

function create(): Promise<WebGpuBackend> {
  const device = {
    limits: {},
    pushErrorScope: (filter: string) => void scopes.push(filter),
    popErrorScope: () => Promise.resolve(scopes.pop() === parts.failing ? { message: 'no room' } : null),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the fields that creation reads
  return WebGpuBackend.create({
    gpu: { device },
    model: { config: ScriptedBackend.config, program: { states: [] } },
    packed: { precision: 'float32' },
    weights: { bytes: () => Promise.resolve(new Uint8Array()) },
  } as unknown as Options);
}

const unhandled: unknown[] = [];
const record = (cause: unknown): void => void unhandled.push(cause);

beforeEach(() => {
  unhandled.length = 0;
  parts.failing = '';
  process.on('unhandledRejection', record);
});
afterEach(() => void process.off('unhandledRejection', record));

describe('a WebGPU backend that is made', () => {
  it('fails for its sampler when its session is there, and not unheard before', async () => {
    const session = Promise.withResolvers<unknown>();
    parts.session = () => session.promise;
    parts.sampler = () => Promise.reject(new Error('no pipeline'));
    const created = create();
    // Node reports unhandled rejections before its next timers.
    await new Promise((resolve) => setTimeout(resolve));
    expect(unhandled).toEqual([]);
    session.resolve({});
    await expect(created).rejects.toThrow('no pipeline');
  });

  it('fails for an error of the GPU that its session causes, which models on the same device never see', async () => {
    vi.stubGlobal('GPUOutOfMemoryError', TypeError);
    parts.session = () => Promise.resolve({});
    parts.sampler = () => Promise.resolve({});
    parts.failing = 'out-of-memory';
    await expect(create()).rejects.toThrow('WebGPU error: no room');
    expect(scopes).toEqual([]);
    vi.unstubAllGlobals();
  });

  it.each([
    ['its sampler', 'sampler', 301_000],
    ['its session', 'session', 1_801_000],
  ] as const)('fails where %s never comes to an end', async (_, part, patienceMs) => {
    vi.useFakeTimers();
    parts.session = () => Promise.resolve({});
    parts.sampler = () => Promise.resolve({});
    parts[part] = () => new Promise<never>(() => {});
    const created = create();
    created.catch(() => {});
    await vi.advanceTimersByTimeAsync(patienceMs);
    await expect(created).rejects.toBeInstanceOf(StepHangError);
    vi.useRealTimers();
  });
});
