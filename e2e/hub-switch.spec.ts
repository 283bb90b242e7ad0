import { expectReferenceTokens } from './support/expect-reference.ts';
import { ggufCheckpoint } from '../tools/hub-server/checkpoints/gguf-checkpoint.ts';
import { loadModel, test, TWIN, twinFiles } from './support/hub-test.ts';
import { ANY_BACKEND, expect } from './support/test.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROMPT = 'Once upon a time,';

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
  'the page loads a folder that was picked, and has it at the next start',
  { tag: ANY_BACKEND },
  async ({ freshTab, hub, backend }) => {
    const folder = await mkdtemp(join(tmpdir(), 'tabserve-model-'));
    for (const [name, content] of twinFiles()) await writeFile(join(folder, name), content);
    await freshTab.pickModel('or a folder', folder);
    const name = folder.split('/').at(-1);
    await expect.poll(async () => (await freshTab.status()).model?.id).toBe(name);
    await expectReferenceTokens(freshTab);
    await rm(folder, { recursive: true });
    await freshTab.open(`?backend=${backend}`);
    expect((await freshTab.ready()).model?.id).toBe(name);
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
