import {
  breakModelFile,
  changedConfig,
  missing,
  replaced,
  truncatedWeights,
  type FileFault,
} from './support/broken-model.ts';
import { someOf } from './support/seeded-random.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

interface BadModel {
  readonly title: string;
  readonly fault: () => FileFault;
  readonly code: string;
  readonly says: string;
}

/** One of each stage that finds a fault; unit tests of openCheckpoint and of readConfig have the others. */
const BAD_MODELS: readonly BadModel[] = [
  {
    title: 'without its weights',
    fault: () => missing('model.safetensors'),
    code: 'MODEL_FILE_MISSING',
    says: 'model.safetensors',
  },
  {
    title: 'whose tokenizer.json is of another kind',
    fault: () => replaced('tokenizer.json', {}),
    code: 'MODEL_FILE_CORRUPT',
    says: 'tokenizer.json',
  },
  {
    title: 'with half of its weights',
    fault: () => truncatedWeights(0.5),
    code: 'MODEL_FILE_CORRUPT',
    says: 'model.safetensors',
  },
  {
    title: 'of another architecture',
    fault: () => changedConfig({ model_type: 'mamba' }),
    code: 'UNSUPPORTED_MODEL',
    says: 'mamba',
  },
];

test.describe('a model', { tag: ANY_BACKEND }, () => {
  for (const { title, fault, code, says } of someOf(BAD_MODELS, 2)) {
    test(`${title} fails with ${code}, in the page and for the client`, async ({ ownTab, backend }) => {
      await breakModelFile(ownTab.page, fault());
      await ownTab.open(`?backend=${backend}`);
      await expect(ownTab.ready()).rejects.toThrow(says);
      const { state, error } = await ownTab.status();
      expect(state).toBe('failed');
      expect(error?.code).toBe(code);
      const alert = ownTab.page.getByRole('alert').filter({ hasText: code });
      await expect(alert).toContainText(says);
      const [outcome] = await ownTab.outcomesOf([{ prompt: 'Once upon a time,' }]);
      expect(outcome?.code).toBe(code);
    });
  }

  test('loads again at a click once its files are whole, whatever the address says', async ({
    ownTab,
    backend,
  }) => {
    const { page } = ownTab;
    await breakModelFile(page, missing('config.json'));
    await ownTab.open(`?backend=${backend}#prompt=Once+upon&seed=7`);
    await expect(ownTab.ready()).rejects.toThrow('config.json');
    await page.context().unrouteAll();
    await Promise.all([
      page.waitForEvent('load'),
      page.getByRole('alert').getByRole('button', { name: 'Load again' }).click(),
    ]);
    await page.waitForFunction(() => 'tabserve' in window);
    await ownTab.ready();
    await expect(page.getByRole('textbox', { name: 'Prompt' })).toHaveValue('Once upon');
  });
});
