import type { Locator } from 'playwright/test';

import { expectReferenceTokens } from './support/expect-reference.ts';
import { ggufCheckpoint } from '../tools/hub-server/checkpoints/gguf-checkpoint.ts';
import { deleteModel, loadModel, storedModels, test, TWIN, twinFiles, WEIGHTS } from './support/hub-test.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect } from './support/test.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROMPT = 'Once upon a time,';

const deleteIn = ({ page }: Tab): Locator => page.getByRole('button', { name: `Delete ${TWIN}` });

test.describe('requests that run when another model is ready', { tag: ANY_BACKEND }, () => {
  for (const whenBusy of ['finish', 'resubmit'] as const) {
    test(`${whenBusy}, and those after them go to the new model`, async ({ freshTab, hub }) => {
      await freshTab.begin([{ prompt: PROMPT, options: { maxNewTokens: 200, temperature: 1, seed: 3 } }]);
      await freshTab.whenStreamed(2);
      const loading = loadModel(freshTab, TWIN, { hub: hub.url, whenBusy });
      // It goes on while the other model is on its way.
      await expect.poll(async () => (await freshTab.status()).load?.phase).toBeDefined();
      expect((await loading).value?.model?.id).toBe(TWIN);
      await expectReferenceTokens(freshTab);
      const [outcome] = await freshTab.outcomesOfBegun();
      const restarts = (await freshTab.updates()).filter(({ type }) => type === 'restarted');
      // A short text may have ended before the new model was there.
      if (whenBusy === 'finish') expect(restarts).toEqual([]);
      expect(restarts.length).toBeLessThanOrEqual(1);
      const again = await freshTab.generate(PROMPT, { maxNewTokens: 200, temperature: 1, seed: 3 });
      expect(outcome?.value?.tokenIds).toEqual(again.tokenIds);
    });
  }
});

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
    await test.step('one that does not exist is an error in the panel, without another question to the hub', async () => {
      await panel.getByLabel('Hugging Face model ID').fill('tests/nobody');
      await panel.getByRole('button', { name: 'Load', exact: true }).click();
      const alert = panel.getByRole('alert');
      await expect(alert).toContainText('Couldn’t load tests/nobody. Still using storyteller.');
      await expect(alert).toContainText('MODEL_NOT_FOUND');
      await expect(panel).not.toContainText('asking the hub');
      expect(hub.requests).toHaveLength(1);
    });
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
  'a model that runs is not deleted by mistake; once it is gone, the other tab no longer lists it, and the next to lead says so',
  { tag: ANY_BACKEND },
  async ({ site, hub }) => {
    await site.openReady(2);
    const first = await site.leader();
    const [second] = await site.followers();
    if (!second) throw new Error('There is no follower.');
    await loadModel(first, TWIN, { hub: hub.url });
    await first.openStatus();
    await expect(deleteIn(first)).toBeVisible();
    const [stored] = await storedModels(second);
    expect(stored).toMatchObject({ id: TWIN, isInUse: true });
    const refusal = await second.page.evaluate(
      (key) => window.tabserve.deleteModel(key).catch((error: Error) => error.message),
      stored?.key ?? '',
    );
    expect(refusal).toContain(`${TWIN} is in use`);
    await deleteModel(second, stored?.key ?? '');
    expect((await second.status()).model?.id, 'it runs on').toBe(TWIN);
    // Playwright makes all pages believe that they have the focus, so none gets a focus event.
    await first.page.evaluate(() => window.dispatchEvent(new Event('focus')));
    await expect(deleteIn(first)).toHaveCount(0);
    await site.close(first);
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

test('the page loads a GGUF file that was picked', { tag: ANY_BACKEND }, async ({ freshTab }) => {
  const box = await freshTab.openStatus();
  const buffer = Buffer.from(await ggufCheckpoint(twinFiles()));
  await box.getByLabel('or a GGUF file').setInputFiles({ name: 'twin.gguf', mimeType: '', buffer });
  const picked = box.getByRole('region', { name: 'Picked files' });
  await expect(picked).toContainText(/twin\.gguf .+It will take .+ of memory in fp32/);
  expect((await freshTab.status()).load, 'nothing loads before one says so').toBeUndefined();
  await box.getByRole('combobox', { name: 'Precision' }).selectOption('q8');
  await expect(picked).toContainText('of memory in q8');
  await box.getByRole('combobox', { name: 'Precision' }).selectOption('auto');
  await picked.getByRole('button', { name: 'Load twin.gguf' }).click();
  await expect.poll(async () => (await freshTab.status()).model?.id).toBe('twin');
  await expectReferenceTokens(freshTab);
});
