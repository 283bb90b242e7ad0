import { expect, it } from 'vitest';
import type { DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { GPU, WASM } from '../../models/checkpoint/test-support.ts';
import { stampOf } from '../../models/formats/checkpoint-files.ts';
import type { ModelFolder, ModelManifest } from '../../models/store/model-folder.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import type { Dtype, DtypeChoice, StoredSource } from '../../../protocol/models.ts';
import type { LoadJob } from './load-job.ts';
import { obtainModel } from './obtain-model.ts';

const SOURCE = { type: 'hub', hub: 'https://hub.example', id: 'a/b', revision: 'main' } as const;

it.each([
  ['is taken where `auto` chose it on such a device', 'fp16', 'float16', true, 'auto', GPU, true],
  ['is taken where `auto` had to quantize it there', 'q8', 'float16', true, 'auto', GPU, true],
  ['is taken where the model itself needs fp32', 'fp32', 'float32', true, 'auto', GPU, true],
  ['is fetched where `auto` chose without fp16', 'fp32', 'float32', false, 'auto', GPU, false],
  ['is taken without fp16 where that was so before', 'fp32', 'float32', false, 'auto', WASM, true],
  ['is fetched where it needs fp16 and there is none', 'q8', 'float16', true, 'q8', WASM, false],
  ['is fetched where another dtype is asked for', 'q8', 'float32', false, 'q4', WASM, false],
] as const)('a stored model %s', async (_, stored, precision, hadFloat16, choice, device, isTaken) => {
  const folder = folderOf(stored, precision, hadFloat16);
  expect(await obtain(folder, choice, device)).toBe(isTaken ? folder : 'fetched');
});

function folderOf(dtype: Dtype, precision: 'float16' | 'float32', hadFloat16: boolean): ModelFolder {
  const packed: ModelManifest['packed'] = { dtype, precision, size: 0, tensors: [], formatVersion: 0 };
  const manifest = { ...SOURCE, dtypeChoice: 'auto', hadFloat16, packed };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is read of it
  return { manifest } as unknown as ModelFolder;
}

async function obtain(
  folder: ModelFolder,
  choice: DtypeChoice,
  device: DeviceLimits,
  source: StoredSource = SOURCE,
): Promise<unknown> {
  const fakes = {
    store: { folders: () => Promise.resolve([folder]) },
    job: { report: () => {}, attempt: () => Promise.resolve('fetched') },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is called of them
  const { store, job } = fakes as unknown as { store: ModelStore; job: LoadJob };
  return obtainModel(source, choice, device, store, job);
}

function pickedAt(lastModified: number, name = 'mine'): StoredSource {
  const files = [new File(['GGUF'], 'mine.gguf', { lastModified })];
  return { type: 'files', name, files };
}

it('picked files are converted once, and again after a change', async () => {
  const folder = folderOf('fp32', 'float32', false);
  const source = pickedAt(1);
  const commit = source.type === 'files' ? stampOf(source.files) : '';
  Object.assign(folder.manifest, { id: 'mine', hub: '', revision: '', commit });
  expect(await obtain(folder, 'auto', WASM, pickedAt(1))).toBe(folder);
  expect(await obtain(folder, 'auto', WASM, pickedAt(2))).toBe('fetched');
  expect(await obtain(folder, 'auto', WASM, pickedAt(1, 'other'))).toBe('fetched');
});

it('a model of the server’s disk takes the place of its copy from before a change, and of no other', async () => {
  const id = 'local/mine';
  const stored = (key: string, facts: object) => ({
    key,
    manifest: { ...SOURCE, id, revision: '1', packed: { precision: 'float32', dtype: 'fp32' }, ...facts },
  });
  const folders = [
    stored('old', {}),
    stored('older', { revision: '2' }),
    stored('other model', { id: 'local/other' }),
    stored('other hub', { hub: 'https://huggingface.co' }),
  ];
  const deleted: string[] = [];
  const fakes = {
    store: {
      folders: () => Promise.resolve(folders),
      delete: (key: string) => Promise.resolve(void deleted.push(key)),
    },
    job: { report: () => {}, attempt: () => Promise.resolve('fetched') },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is called of them
  const { store, job } = fakes as unknown as { store: ModelStore; job: LoadJob };
  await obtainModel({ ...SOURCE, id, revision: '3' }, 'auto', WASM, store, job);
  expect(deleted).toEqual(['old', 'older']);
});
