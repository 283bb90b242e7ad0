import type { Locator } from 'playwright/test';

import { startBridge } from './support/bridge-test.ts';
import { expectReferenceTokens } from './support/expect-reference.ts';
import { ggufCheckpoint } from '../tools/hub-server/checkpoints/gguf-checkpoint.ts';
import { deleteModel, loadModel, storedModels, test, TWIN, twinFiles, WEIGHTS } from './support/hub-test.ts';
import { openTab, type Tab } from './support/tab.ts';
import { ANY_BACKEND, expect } from './support/test.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROMPT = 'Once upon a time,';

const deleteIn = ({ page }: Tab): Locator => page.getByRole('button', { name: `Delete ${TWIN}` });

test.describe('requests that run when another model is ready', { tag: ANY_BACKEND }, () => {
  for (const whenBusy of ['finish', 'resubmit'] as const) {
    test(`${whenBusy}, and those after them go to the new model`, async ({ readyTab, hub }) => {
      await readyTab.begin([{ prompt: PROMPT, options: { maxNewTokens: 200, temperature: 1, seed: 3 } }]);
      await readyTab.whenStreamed(2);
      const loading = loadModel(readyTab, TWIN, { hub: hub.url, whenBusy });
      // It goes on while the other model is on its way.
      await expect.poll(async () => (await readyTab.status()).load?.phase).toBeDefined();
      expect((await loading).value?.model?.id).toBe(TWIN);
      await expectReferenceTokens(readyTab);
      const [outcome] = await readyTab.outcomesOfBegun();
      const restarts = (await readyTab.updates()).filter(({ type }) => type === 'restarted');
      // A short text may have ended before the new model was there.
      if (whenBusy === 'finish') expect(restarts).toEqual([]);
      expect(restarts.length).toBeLessThanOrEqual(1);
      const again = await readyTab.generate(PROMPT, { maxNewTokens: 200, temperature: 1, seed: 3 });
      expect(outcome?.value?.tokenIds).toEqual(again.tokenIds);
      expect(readyTab.errors).toEqual([]);
    });
  }
});

test(
  'the hub that the server was started with is the hub of a page, and of its loadModel',
  { tag: ANY_BACKEND },
  async ({ browser, hub, backend }) => {
    const bridge = await startBridge({ hub: [hub.url] });
    const context = await browser.newContext({ baseURL: bridge.url });
    const tab = await openTab(context, backend);
    const { value, message } = await loadModel(tab, TWIN, {});
    expect(message).toBeUndefined();
    expect(value?.model?.id).toBe(TWIN);
    expect(hub.requests.length).toBeGreaterThan(0);
    await context.close();
    await bridge.close();
  },
);

test(
  'the page loads a model by its id, pauses it, resumes it after a reload, and deletes it',
  {
    tag: ANY_BACKEND,
  },
  async ({ ownTab, hub, backend }) => {
    const address = `?backend=${backend}&hub=${encodeURIComponent(hub.url)}`;
    await ownTab.open(address);
    await ownTab.ready();
    const panel = (await ownTab.openStatus()).getByRole('region', { name: 'Load another model' });
    const size = twinFiles().get(WEIGHTS)?.length ?? 0;
    const sent = (): number =>
      hub.requests.reduce((sum, { bytesSent, kind }) => sum + (kind === 'content' ? bytesSent : 0), 0);
    hub.fault = ({ kind }) =>
      kind === 'content' ? { gate: () => sent() < size / 2 || new Promise<boolean>(() => {}) } : undefined;
    await panel.getByLabel('Hugging Face model ID').fill(TWIN);
    await panel.getByRole('button', { name: 'Load', exact: true }).click();
    await expect(panel.getByTestId('model-load')).toContainText('downloading');
    await expect.poll(() => sent()).toBeGreaterThanOrEqual(size / 2);
    await panel.getByRole('button', { name: 'Pause' }).click();
    await expect(panel.getByTestId('model-load')).toContainText('paused');
    hub.fault = () => undefined;
    await ownTab.open(address);
    await ownTab.ready();
    await ownTab.openStatus();
    await panel.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(async () => (await ownTab.status()).model?.id).toBe(TWIN);
    await expectReferenceTokens(ownTab);
    await panel.getByRole('button', { name: `Delete ${TWIN}` }).click();
    await expect(panel.getByText(`${TWIN} is in use. It runs until its tab closes`)).toBeVisible();
    await panel.getByRole('button', { name: 'Keep it' }).click();
    await panel.getByRole('button', { name: `Delete ${TWIN}` }).click();
    await panel.getByRole('button', { name: 'Delete it' }).click();
    await expect(panel.getByRole('list', { name: 'Models on this device' })).toHaveCount(0);
    expect(await storedModels(ownTab), 'its files, until the time for Undo is over').toHaveLength(1);
    await panel.getByRole('button', { name: 'Undo', exact: true }).click();
    await expect(deleteIn(ownTab)).toBeVisible();
    expect(ownTab.errors).toEqual([]);
  },
);

test(
  'a tab that is looked at again lists no model that another tab has deleted',
  { tag: ANY_BACKEND },
  async ({ site, hub }) => {
    const [first, second] = await site.openPair();
    await loadModel(first, TWIN, { hub: hub.url });
    for (const tab of [first, second]) await tab.openStatus();
    await expect(deleteIn(second)).toBeVisible();
    const [stored] = await storedModels(first);
    await deleteModel(first, stored?.key ?? '');
    // Playwright makes all pages believe that they have the focus, so none gets a focus event.
    await second.page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await expect(deleteIn(second)).toHaveCount(0);
  },
);

test(
  'a model that runs is not deleted by mistake, and when it is gone the next tab says so',
  { tag: ANY_BACKEND },
  async ({ site, hub }) => {
    const pair = await site.openPair();
    const [first, second] = (await pair[0].status()).role === 'leader' ? pair : [pair[1], pair[0]];
    await loadModel(first, TWIN, { hub: hub.url });
    const [stored] = await storedModels(second);
    expect(stored).toMatchObject({ id: TWIN, isInUse: true });
    const refusal = await second.page.evaluate(
      (key) => window.tabserve.deleteModel(key).catch((error: Error) => error.message),
      stored?.key ?? '',
    );
    expect(refusal).toContain(`${TWIN} is in use`);
    await deleteModel(second, stored?.key ?? '');
    expect((await second.status()).model?.id, 'it runs on').toBe(TWIN);
    await first.page.close();
    await expect
      .poll(async () => (await second.status()).loadFailure)
      .toMatchObject({ id: TWIN, error: { code: 'MODEL_DELETED' } });
    expect((await second.ready()).model?.id).toBe('storyteller');
    const note = second.page.getByRole('complementary', { name: 'Handover' });
    await expect(note).toContainText(`${TWIN} is no longer on this device`);
    await expect(note).toContainText('storyteller took over');
  },
);

test(
  'the page loads a folder that was picked, and has it at the next start',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
    const folder = await mkdtemp(join(tmpdir(), 'tabserve-model-'));
    for (const [name, content] of twinFiles()) await writeFile(join(folder, name), content);
    await ownTab.open(`?backend=${backend}`);
    await ownTab.ready();
    await ownTab.pickModel('or a folder', folder);
    const name = folder.split('/').at(-1);
    await expect.poll(async () => (await ownTab.status()).model?.id).toBe(name);
    await expectReferenceTokens(ownTab);
    await rm(folder, { recursive: true });
    await ownTab.open(`?backend=${backend}`);
    expect((await ownTab.ready()).model?.id).toBe(name);
    expect(hub.requests).toEqual([]);
  },
);

test('the page loads a GGUF file that was picked', { tag: ANY_BACKEND }, async ({ ownTab }) => {
  await ownTab.open('?backend=wasm');
  await ownTab.ready();
  const box = await ownTab.openStatus();
  const buffer = Buffer.from(await ggufCheckpoint(twinFiles()));
  await box.getByLabel('or a GGUF file').setInputFiles({ name: 'twin.gguf', mimeType: '', buffer });
  const picked = box.getByRole('region', { name: 'Picked files' });
  await expect(picked).toContainText(/twin\.gguf .+It will take .+ of memory in fp32/);
  expect((await ownTab.status()).load, 'nothing loads before one says so').toBeUndefined();
  await box.getByRole('combobox', { name: 'Precision' }).selectOption('q8');
  await expect(picked).toContainText('of memory in q8');
  await box.getByRole('combobox', { name: 'Precision' }).selectOption('auto');
  await picked.getByRole('button', { name: 'Load twin.gguf' }).click();
  await expect.poll(async () => (await ownTab.status()).model?.id).toBe('twin');
  await expectReferenceTokens(ownTab);
});
