import { expect, it, vi } from 'vitest';

import { WASM } from '../../models/checkpoint/test-support.ts';
import { readModel } from '../../models/families/families.ts';
import type { Model } from '../../models/family.ts';
import type { ModelFolder } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import { TINY_CONFIG } from '../../testing/tiny-checkpoint.ts';
import type { StoredModel } from '../../../protocol/models.ts';
import { planPrecisions } from './plan-precisions.ts';

const MODEL = readModel(TINY_CONFIG, undefined);
const SOURCE = { type: 'hub', hub: 'https://hub', id: 'a/tiny', revision: 'main' } as const;

const hub = vi.hoisted((): { model: Model | undefined } => ({ model: undefined }));
vi.mock('../../models/hub/fetch-model.ts', () => ({
  readHubModel: () =>
    hub.model ? Promise.resolve({ model: hub.model }) : Promise.reject(new Error('the hub was asked')),
  readPickedModel: () => Promise.reject(new Error('no files were picked')),
}));

const PARTS = { id: 'a/tiny', revision: 'main', storedBytes: 1, totalBytes: 1 };

function plan(folders: readonly Partial<ModelFolder>[] = [], lists: StoredModel[][] = []) {
  const deleted: string[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is asked of the store
  const store = {
    folders: () => Promise.resolve(folders),
    list: () => Promise.resolve(lists.shift() ?? []),
    delete: async (key: string) => void deleted.push(key),
  } as unknown as ModelStore;
  return { plans: planPrecisions({ source: SOURCE, deployment: 'text-generator' }, WASM, store), deleted };
}

it('fewer bits take less memory, and a precision that the device lacks is refused by its name', async () => {
  hub.model = MODEL;
  const plans = new Map((await plan().plans).map((each) => [each.dtype, each]));
  expect(plans.get('fp16')).toMatchObject({
    memoryBytes: 0,
    obstacle: expect.stringContaining('shader-f16'),
  });
  const bytes = (['fp32', 'q8', 'q4'] as const).map((dtype) => plans.get(dtype)?.memoryBytes ?? 0);
  expect(bytes).toEqual(bytes.toSorted((one, other) => other - one));
  expect(bytes.at(-1)).toBeGreaterThan(0);
  expect([...plans.values()].filter(({ isStored }) => isStored)).toEqual([]);
  expect([...plans.values()].filter(({ isAuto }) => isAuto).map(({ dtype }) => dtype)).toEqual(['fp32']);
});

it('a stored model is read from this device, and its own precision needs no network', async () => {
  hub.model = undefined;
  const packed = { dtype: 'q8', precision: 'float32' };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plan reads no other field
  const stored = {
    manifest: { ...SOURCE, packed, dtypeChoice: 'q8', hadFloat16: false },
    readTexts: () => Promise.resolve({ config: TINY_CONFIG }),
  } as unknown as ModelFolder;
  const plans = await plan([stored]).plans;
  expect(plans.filter(({ isStored }) => isStored).map(({ dtype }) => dtype)).toEqual(['q8']);
});

it('an encoder is refused where texts are wanted', async () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plan only asks whether there is one
  hub.model = { ...MODEL, encoder: { task: 'embed' } } as unknown as Model;
  await expect(plan().plans).rejects.toMatchObject({
    code: 'UNSUPPORTED_MODEL',
    message: expect.stringContaining('a/tiny is a model for the embedder, not for the text-generator'),
  });
});

it('the files that were read for it are deleted, and those of a download stay', async () => {
  hub.model = MODEL;
  const [download, read] = [
    { ...PARTS, key: 'download' },
    { ...PARTS, key: 'read' },
  ];
  const { plans, deleted } = plan(
    [],
    [[download], [download, read, { ...PARTS, key: 'other', id: 'a/other' }]],
  );
  await plans;
  expect(deleted).toEqual(['read']);
});
