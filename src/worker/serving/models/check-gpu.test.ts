import { beforeEach, expect, it, vi } from 'vitest';
import { ModelStore } from '../../models/store/model-store.ts';
import { MemoryFolder } from '../../models/store/test-support.ts';
import type { StartStage } from '../../../protocol/models.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import type { GpuDevice } from '../../runtime/webgpu/gpu-device.ts';
import { WebGpuRuntime } from '../../runtime/webgpu/webgpu-runtime.ts';
import { ScriptedBackend } from '../../testing/scripted-backend.ts';
import { createScriptedModel } from '../../test-support.ts';
import { checkGpu } from './check-gpu.ts';

const platform = vi.hoisted(() => ({
  numChecks: 0,
  where: undefined as string | undefined,
  runtime: '1.30.0',
}));

vi.mock('../../runtime/gpu-check/gpu-check.ts', () => ({
  findWrongValuesOf(_device: unknown, _model: unknown, report: (done: number, total: number) => void) {
    platform.numChecks += 1;
    report(1, 2);
    return Promise.resolve(platform.where);
  },
}));
vi.mock('../../runtime/ort/ort.ts', () => ({
  ortInUse: () => Promise.resolve({ env: { versions: { web: platform.runtime } } }),
}));

interface Start {
  readonly adapterName?: string;
  readonly browser?: string;
  readonly dtype?: 'fp32' | 'q4';
  readonly store?: Promise<ModelStore>;
}

/** One start of a worker: the reported phases, and how often the model was released. */
async function start({ adapterName = 'a GPU', browser = 'Browser 1', dtype = 'fp32', store }: Start = {}) {
  navigatorOf(browser);
  let numReleases = 0;
  const backend = new ScriptedBackend();
  backend.release = async () => void (numReleases += 1);
  const model = createScriptedModel(backend);
  const progress: StartStage[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the check reads no other field of the device
  const runtime = new WebGpuRuntime({ adapterName } as GpuDevice);
  const device: DeviceChoice = { runtime, rung: 'webgpu-fp32', fallbackReason: '' };
  const failure: unknown = await checkGpu(
    { ...model, checkedAs: { ...model.checkedAs, dtype } },
    device,
    store ?? ModelStore.open('tabserve'),
    (report) => progress.push(report),
  ).catch((error: unknown) => error);
  return { failure, progress, numReleases };
}

let root = new MemoryFolder();

function navigatorOf(userAgent: string): void {
  vi.stubGlobal('navigator', { userAgent, storage: { getDirectory: () => Promise.resolve(root) } });
}

beforeEach(() => {
  root = new MemoryFolder();
  platform.numChecks = 0;
  platform.where = undefined;
  platform.runtime = '1.30.0';
});

it('checks a GPU once, as a phase of the load', async () => {
  expect((await start()).progress).toEqual([{ phase: 'check', loaded: 1, total: 2 }]);
  expect(await start()).toEqual({ failure: undefined, progress: [], numReleases: 0 });
  expect(platform.numChecks).toBe(1);
});

it('checks again with another adapter, browser, runtime or dtype', async () => {
  await start();
  await start({ adapterName: 'another GPU' });
  await start({ browser: 'Browser 2' });
  await start({ dtype: 'q4' });
  platform.runtime = '1.31.0';
  await start();
  expect(platform.numChecks).toBe(5);
  await start({ dtype: 'q4' });
  platform.runtime = '1.30.0';
  await start({ dtype: 'q4' });
  expect(platform.numChecks).toBe(6);
});

it('refuses a GPU that computes wrongly, releases the model, and checks again at the next start', async () => {
  platform.where = 'prompts of 33 tokens and more';
  const { failure, numReleases } = await start();
  expect(failure).toMatchObject({
    code: 'GPU_WRONG_VALUES',
    reason: 'This GPU computes wrong values (prompts of 33 tokens and more)',
  });
  expect(numReleases).toBe(1);
  platform.where = undefined;
  expect((await start()).failure).toBeUndefined();
  expect(platform.numChecks).toBe(2);
});

it('checks at each start where nothing can be stored', async () => {
  const store = Promise.reject(new Error('no storage'));
  expect((await start({ store })).failure).toBeUndefined();
  expect((await start({ store })).failure).toBeUndefined();
  expect(platform.numChecks).toBe(2);
});

it('checks no CPU', async () => {
  const model = createScriptedModel(new ScriptedBackend());
  const device: DeviceChoice = { runtime: new CpuRuntime(1), rung: 'wasm', fallbackReason: '' };
  navigatorOf('Browser 1');
  await checkGpu(model, device, ModelStore.open('tabserve'), () => {});
  expect(platform.numChecks).toBe(0);
});
