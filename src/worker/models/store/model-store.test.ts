import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ModelTexts } from './model-folder.ts';
import { ModelStore } from './model-store.ts';
import type * as StoredDigest from './stored-digest.ts';
import { MemoryFolder } from './test-support.ts';

const FIRST = 'the embedded model';
const ORIGIN = { id: 'a/b', hub: 'https://hub.example', revision: 'main', commit: 'c0ffee' };

/** A stored model that the user chose to serve. */
async function chooseStored() {
  const store = await ModelStore.open('tabserve');
  const choice = { dtypeChoice: 'auto', dtypeReason: '', hadFloat16: false } as const;
  const tensor = { name: 't', role: 'plain', shape: [1], encoding: 'float32', offset: 0, length: 1 } as const;
  const layout = { dtype: 'fp32', precision: 'float32', size: 1, tensors: [tensor] } as const;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store reads nothing of the texts
  const folder = await store.write(ORIGIN, {} as ModelTexts, choice, layout, (file) => {
    file.write(Uint8Array.of(1), { at: 0 });
    return Promise.resolve({});
  });
  await store.serve(FIRST, folder);
  let numWorkers = 0;
  /** The last worker whose tab was closed. */
  let left: string | undefined;
  /** The model that a starting worker serves; `fault`: the worker before it has failed; `closed`: its tab was closed. */
  const start = async (before?: 'fault' | 'closed') => {
    if (before === 'closed') left = `worker ${numWorkers}`;
    const worker = `worker ${++numWorkers}`;
    const chosen = await store.served(FIRST, { isAfterFault: before === 'fault', worker, left });
    return chosen && ('key' in chosen ? chosen.key : chosen);
  };
  return { store, folder, key: folder.key, start };
}

/** Whether the code that computes digests, which is a chunk of its own, can be fetched. */
const network = vi.hoisted(() => ({ isThere: true }));

vi.mock('./stored-digest.ts', async (importOriginal) => {
  const { createStoredHasher, ...others } = await importOriginal<typeof StoredDigest>();
  return {
    ...others,
    createStoredHasher: () => (network.isThere ? createStoredHasher() : Promise.reject(new Error('offline'))),
  };
});

let root = new MemoryFolder();

beforeEach(() => {
  network.isThere = true;
  root = new MemoryFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.resolve(root) } });
});
afterEach(() => void vi.unstubAllGlobals());

describe('after the user has cleared the data of the site', () => {
  it('lists nothing, forgets what served, and stores anew', async () => {
    const { store, start } = await chooseStored();
    root.clear();
    expect(await store.list()).toEqual([]);
    expect(await start()).toBeUndefined();
    await store.noteChecked('a GPU');
    expect(await store.isChecked('a GPU')).toBe(true);
    const { key } = await chooseStored();
    expect((await store.list()).map((model) => model.key)).toEqual([key]);
    await store.delete(key);
    expect(await store.list()).toEqual([]);
  });
});

describe('the weights of a stored model', () => {
  it('are not held by who could not read them', async () => {
    const { store } = await chooseStored();
    const [folder] = await store.folders();
    const firstByte = () =>
      folder?.withWeights(
        () => {},
        async (weights) => (await weights.bytes()).subarray(0, 1)[0],
      );
    network.isThere = false;
    await expect(firstByte()).rejects.toThrow('offline');
    network.isThere = true;
    expect(await firstByte()).toBe(1);
  });

  it('are deleted once what is read of them is not what was stored', async () => {
    const { store } = await chooseStored();
    const [folder] = await store.folders();
    const models = await (await root.getDirectoryHandle('tabserve')).getDirectoryHandle('models');
    const [place] = await Array.fromAsync(models.values());
    if (!(place instanceof MemoryFolder)) throw new Error('Nothing is stored');
    const file = await (await place.getFileHandle('weights.bin')).createSyncAccessHandle();
    file.write(Uint8Array.of(2), { at: 0 });
    file.close();
    const read = folder?.withWeights(
      () => {},
      async (weights) => (await weights.bytes()).subarray(0, 1),
    );
    await expect(read).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
    expect(await store.folders()).toEqual([]);
  });
});

describe('the model that this browser was told to serve', () => {
  it('is the same at the next start, however many there were that came to an end', async () => {
    const { store, key, start } = await chooseStored();
    for (let count = 0; count < 10; count++) {
      expect(await start(count % 2 === 0 ? undefined : 'fault')).toBe(key);
      await store.endStart(key);
    }
  });

  it('outlives starts that are broken off: a page may be reloaded before it is there', async () => {
    const { store, key, start } = await chooseStored();
    for (let count = 0; count < 4; count++) expect(await start()).toBe(key);
    expect(await start()).toBe(key);
    await store.endStart(key);
    expect(await start()).toBe(key);
  });

  it('is the same however often the page is closed or reloaded while it starts', async () => {
    const { key, start } = await chooseStored();
    await start();
    for (let count = 0; count < 10; count++) expect(await start('closed')).toBe(key);
  });

  it('is left alone after five starts that crashed, also where pages were closed between them', async () => {
    const { start } = await chooseStored();
    for (let count = 0; count < 4; count++) {
      await start();
      await start('closed');
    }
    await start();
    await expect(start()).rejects.toMatchObject({ code: 'MODEL_START_FAILED' });
    await expect(start('closed'), 'of the last try, which did not start it').rejects.toMatchObject({
      code: 'MODEL_START_FAILED',
    });
  });

  it('is left alone after five starts without an end, and each start says so, until it is chosen again', async () => {
    const { store, folder, key, start } = await chooseStored();
    for (let count = 0; count < 5; count++) await start();
    for (let count = 0; count < 2; count++) {
      await expect(start()).rejects.toMatchObject({ code: 'MODEL_START_FAILED' });
      await expect(start()).rejects.toThrow("Couldn't start a/b: its last starts broke off");
    }
    await store.serve(FIRST, folder);
    expect(await start()).toBe(key);
  });

  it('is left alone once it has brought two workers down', async () => {
    const { key, start } = await chooseStored();
    expect([await start(), await start('fault')]).toEqual([key, key]);
    await expect(start('fault')).rejects.toMatchObject({ code: 'MODEL_START_FAILED' });
    await expect(start()).rejects.toMatchObject({ code: 'MODEL_START_FAILED' });
  });

  it('may be one that is fetched, and its starts are not counted', async () => {
    const { store, start } = await chooseStored();
    const chosen = { source: { type: 'embedded' }, dtype: 'q8' } as const;
    await store.serve(FIRST, chosen);
    for (let count = 0; count < 10; count++) expect(await start()).toEqual(chosen);
  });

  it('is the same for a check, which counts no start and forgets none', async () => {
    const { store, key, start } = await chooseStored();
    for (let count = 0; count < 10; count++) expect(await store.chosen(FIRST)).toMatchObject({ key });
    expect(await start(), 'nothing was counted').toBe(key);
    expect(await store.chosen('another one')).toBeUndefined();
    const fetched = { source: { type: 'embedded' }, dtype: 'q8' } as const;
    await store.serve(FIRST, fetched);
    expect(await store.chosen(FIRST)).toEqual(fetched);
  });

  it('is found without a look at the others', async () => {
    const { start, key } = await chooseStored();
    const models = await (await root.getDirectoryHandle('tabserve')).getDirectoryHandle('models');
    const list = vi.spyOn(models, 'values');
    expect(await start()).toBe(key);
    expect(list).not.toHaveBeenCalled();
  });

  it('is forgotten, and named, where a part of it is missing', async () => {
    const { start, key } = await chooseStored();
    const models = await (await root.getDirectoryHandle('tabserve')).getDirectoryHandle('models');
    await (await models.getDirectoryHandle(key)).removeEntry('weights.bin');
    await expect(start()).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
    expect(await start()).toBeUndefined();
  });

  it('does not count once the app names another first model', async () => {
    const { store } = await chooseStored();
    const start = { isAfterFault: false, worker: undefined, left: undefined };
    expect(await store.served('another one', start)).toBeUndefined();
  });

  it('is forgotten with the model, also while it starts', async () => {
    const { store, key, start } = await chooseStored();
    await start();
    await store.delete(key);
    await store.endStart(key);
    expect(await start()).toBeUndefined();
  });
});
