import type { Locator } from 'playwright/test';

import { expectReferenceTokens } from './support/expect-reference.ts';
import { loadModel, storedModels, test, TWIN } from './support/hub-test.ts';
import { someOf } from './support/seeded-random.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

/** Ways in which a disk, a crash or another program can damage one file of a stored model. */
const DAMAGES = [
  { title: 'one byte of its weights is another one', file: 'weights.bin', damage: 'flip' },
  { title: 'its weights end too early', file: 'weights.bin', damage: 'cut' },
  { title: 'its manifest is no JSON', file: 'model.json', damage: 'cut' },
  { title: 'its texts are no JSON', file: 'texts.json', damage: 'cut' },
] as const;

test(
  'models are stored anew after the user has cleared the data of the site under an open page',
  { tag: ANY_BACKEND },
  async ({ freshTab, hub }) => {
    await loadModel(freshTab, TWIN, { hub: hub.url });
    const session = await freshTab.page.context().newCDPSession(freshTab.page);
    const { origin } = new URL(freshTab.page.url());
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    expect(await storedModels(freshTab)).toEqual([]);
    await expectReferenceTokens(freshTab);
    await loadModel(freshTab, 'storyteller', {});
    expect((await loadModel(freshTab, TWIN, { hub: hub.url })).value?.model?.id).toBe(TWIN);
    expect(await storedModels(freshTab)).toMatchObject([{ id: TWIN, isInUse: true }]);
  },
);

test.describe('the embedded model serves', { tag: ANY_BACKEND }, () => {
  test('where a stored model is damaged, whichever way, and one message says so', async ({
    freshTab,
    hub,
    backend,
  }) => {
    // Each loads the model anew.
    for (const { title, file, damage } of someOf(DAMAGES, 1)) {
      await test.step(title, async () => {
        expect((await loadModel(freshTab, TWIN, { hub: hub.url })).value?.model?.id).toBe(TWIN);
        await freshTab.page.evaluate(damageFile, [file, damage] as const);
        await freshTab.open(`?backend=${backend}`);
        const { model, loadFailure } = await freshTab.ready();
        expect(model?.id).toBe('storyteller');
        expect(loadFailure?.error).toMatchObject({
          code: 'MODEL_FILE_CORRUPT',
          message: expect.stringContaining(`The copy of ${TWIN} on this device is damaged`),
        });
        await expect(await messagesOf(freshTab)).toHaveText([/MODEL_FILE_CORRUPT/]);
        await expectReferenceTokens(freshTab);
        expect(await storedModels(freshTab)).toEqual([]);
      });
    }
  });

  test('where the browser has no OPFS, and one message says so', async ({
    ownTab,
    hub,
    backend,
    context,
  }) => {
    // No script of a test is in a worker before its own.
    await context.route('**/assets/main-*.js', async (route) => {
      const response = await route.fetch();
      const body = `Reflect.deleteProperty(StorageManager.prototype, 'getDirectory');${await response.text()}`;
      await route.fulfill({ response, body });
    });
    await ownTab.open(`?backend=${backend}`);
    expect((await ownTab.ready()).model?.id).toBe('storyteller');
    await expectReferenceTokens(ownTab);
    await expect(await messagesOf(ownTab)).toHaveText([/only the embedded model runs.* MODEL_STORE_FAILED/]);
    expect((await loadModel(ownTab, TWIN, { hub: hub.url })).code).toBe('MODEL_STORE_FAILED');
    await expectReferenceTokens(ownTab);
  });
});

test(
  'without IndexedDB the history is kept in the tab, and says so',
  { tag: ANY_BACKEND },
  async ({ ownTab, backend }) => {
    const { page } = ownTab;
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'indexedDB'));
    await ownTab.open(`?backend=${backend}`);
    await ownTab.ready();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.locator('[data-request-id]')).toHaveAttribute('data-status', 'finished');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('button', { name: 'History' }).click();
    const history = page.getByRole('dialog', { name: 'History' });
    await expect(history.locator('.error-line')).toHaveText([
      /is lost when the tab closes.* HISTORY_NOT_STORED/,
    ]);
    await expect(history.getByRole('listitem')).toHaveCount(1);
    expect(ownTab.errors).toEqual([]);
  },
);

/** The errors that the choice of a model shows. */
async function messagesOf(tab: Tab): Promise<Locator> {
  return (await tab.openStatus()).locator('.models .error-line');
}

/** Runs in the page. */
async function damageFile([name, damage]: readonly [string, 'flip' | 'cut']): Promise<void> {
  let folder = await navigator.storage.getDirectory();
  for (const part of ['tabserve', 'models']) folder = await folder.getDirectoryHandle(part);
  for await (const model of folder.values()) {
    if (!('getFileHandle' in model)) continue;
    const file = await model.getFileHandle(name);
    const { size } = await file.getFile();
    const middle = Math.floor(size / 2);
    const writable = await file.createWritable({ keepExistingData: true });
    if (damage === 'cut') {
      await writable.truncate(middle);
    } else {
      const [byte = 0] = new Uint8Array(await (await file.getFile()).slice(middle, middle + 1).arrayBuffer());
      await writable.write({ type: 'write', position: middle, data: Uint8Array.of(byte ^ 1) });
    }
    await writable.close();
  }
}
