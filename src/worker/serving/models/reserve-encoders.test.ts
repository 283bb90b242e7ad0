import { expect, it, vi } from 'vitest';

import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import type { EncoderInit } from '../../../protocol/host-messages.ts';
import { NO_PAST } from '../../../protocol/recovery.ts';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { planModel } from '../../models/checkpoint/model-plan.ts';
import { WASM } from '../../models/checkpoint/test-support.ts';
import { readModel } from '../../models/families/families.ts';
import { ModelStore } from '../../models/store/model-store.ts';
import { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { TINY_CONFIG } from '../../testing/tiny-checkpoint.ts';
import { reserveEncoders } from './reserve-encoders.ts';

const MODEL = readModel(TINY_CONFIG, undefined);
const BYTES = planModel({ model: MODEL }, 'auto', WASM).deviceBytes;

const platform = vi.hoisted(() => ({ memoryBytes: Infinity, onSilence: (): void => {} }));

vi.mock('../../runtime/devices/create-backend.ts', () => ({
  chooseDevice: () => Promise.resolve({ runtime: {} }),
  limitsOf: ({ serving }: DeviceLimits) => ({ ...WASM, memoryBytes: platform.memoryBytes, serving }),
}));
vi.mock('../../models/hub/fetch-model.ts', () => ({
  readHubModel: ({ id }: { readonly id: string }, { signal }: { readonly signal: AbortSignal }) => {
    if (id === 'a/missing') return Promise.reject(new Error('no such model'));
    if (id !== 'a/silent') return Promise.resolve({ model: MODEL });
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason));
    platform.onSilence();
    return promise;
  },
  readPickedModel: () => Promise.resolve({ model: MODEL }),
}));

const hubModel = (deployment: string, id: string) => ({
  deployment,
  source: { type: 'hub', hub: 'https://hub', revision: 'main', id } as const,
});

async function reserve(...encoders: readonly EncoderInit[]) {
  const device = new SharedDevice('wasm', NO_PAST);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is asked of the store
  const store = { folders: () => Promise.resolve([]) } as unknown as ModelStore;
  const clock = new FakeClock();
  // `setDeadline` lets arrived messages go first.
  platform.onSilence = () => queueMicrotask(() => clock.advance(5000));
  await reserveEncoders(encoders, device, Promise.resolve(store), clock);
  return (await device.limits()).serving;
}

it('models that will be loaded count, but for one that can’t be read', async () => {
  platform.memoryBytes = Infinity;
  const encoders = [hubModel('embedder', 'a/bert'), hubModel('reranker', 'a/missing')];
  expect(await reserve(...encoders)).toEqual([{ id: 'a/bert', isEncoder: true, bytes: BYTES }]);
  const picked = { type: 'files', name: 'mine', files: [new File(['GGUF'], 'mine.gguf')] } as const;
  const [counted] = (await reserve({ deployment: 'embedder', source: picked })) ?? [];
  expect(counted).toMatchObject({ id: 'mine', bytes: BYTES });
});

it('a hub that doesn’t answer holds the others up for five seconds, and its model isn’t counted', async () => {
  platform.memoryBytes = Infinity;
  const encoders = [hubModel('embedder', 'a/silent'), hubModel('reranker', 'a/cross')];
  expect(await reserve(...encoders)).toMatchObject([{ id: 'a/cross' }]);
});

it('models that don’t fit together are refused, each by its name', async () => {
  // A page may take three quarters of it.
  platform.memoryBytes = 1.5 * BYTES;
  await reserve(hubModel('embedder', 'a/bert'));
  platform.memoryBytes = 2 * BYTES;
  await expect(
    reserve(hubModel('embedder', 'a/bert'), hubModel('reranker', 'a/cross')),
  ).rejects.toMatchObject({
    code: 'MODEL_TOO_LARGE',
    message: expect.stringContaining('of a/bert included'),
  });
});
