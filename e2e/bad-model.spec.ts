import {
  breakModelFile,
  changedConfig,
  missing,
  replaced,
  truncatedWeights,
  weightsWithHeaderLength,
  weightsWithTensor,
  type FileFault,
} from './support/broken-model.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

interface BadModel {
  readonly title: string;
  readonly fault: () => FileFault;
  readonly code: string;
  readonly says: string;
}

const CORRUPT = 'MODEL_FILE_CORRUPT';
const TENSOR = 'h.0.attn.c_attn.weight';

const BAD_MODELS: readonly BadModel[] = [
  ...['config.json', 'tokenizer.json', 'model.safetensors'].map((file): BadModel => ({
    title: `without ${file}`,
    fault: () => missing(file),
    code: 'MODEL_FILE_MISSING',
    says: file,
  })),
  {
    title: 'whose config.json is a web page',
    fault: () => replaced('config.json', '<!doctype html>'),
    code: 'MODEL_FILE_MISSING',
    says: '/models/storyteller/config.json',
  },
  {
    title: 'whose tokenizer.json is of another kind',
    fault: () => replaced('tokenizer.json', '{}'),
    code: CORRUPT,
    says: 'tokenizer.json',
  },
  {
    title: 'with half of its weights',
    fault: () => truncatedWeights(0.5),
    code: CORRUPT,
    says: 'model.safetensors',
  },
  { title: 'with empty weights', fault: () => truncatedWeights(0), code: CORRUPT, says: 'model.safetensors' },
  {
    title: 'whose header claims to be longer than the file',
    fault: () => weightsWithHeaderLength(2n ** 63n),
    code: CORRUPT,
    says: '9223372036854775808',
  },
  {
    title: 'whose header is cut off in the middle',
    fault: () => weightsWithHeaderLength(100n),
    code: CORRUPT,
    says: 'header',
  },
  {
    title: 'with a tensor of an unknown dtype',
    fault: () => weightsWithTensor(TENSOR, (entry) => ({ ...entry, dtype: 'Q4_0' })),
    code: CORRUPT,
    says: 'Q4_0',
  },
  {
    title: 'with a tensor whose shape is not that of the config',
    fault: () => weightsWithTensor(TENSOR, (entry) => ({ ...entry, shape: entry.shape.toReversed() })),
    code: CORRUPT,
    says: TENSOR,
  },
  {
    title: 'with a tensor that spans too few bytes',
    fault: () =>
      weightsWithTensor(TENSOR, (entry) => ({
        ...entry,
        data_offsets: [entry.data_offsets[0], entry.data_offsets[1] - 2],
      })),
    code: CORRUPT,
    says: TENSOR,
  },
  {
    title: 'with a tensor beyond the end of the file',
    fault: () =>
      weightsWithTensor(TENSOR, (entry) => ({
        ...entry,
        data_offsets: [entry.data_offsets[0] + 1e9, entry.data_offsets[1] + 1e9],
      })),
    code: CORRUPT,
    says: TENSOR,
  },
  {
    title: 'without one of its tensors',
    fault: () => weightsWithTensor(TENSOR, () => null),
    code: CORRUPT,
    says: TENSOR,
  },
  {
    title: 'of another architecture',
    fault: () => changedConfig({ model_type: 'mamba' }),
    code: 'UNSUPPORTED_MODEL',
    says: 'mamba',
  },
  {
    title: 'with another activation',
    fault: () => changedConfig({ activation_function: 'mish' }),
    code: 'UNSUPPORTED_MODEL',
    says: 'mish',
  },
  {
    title: 'whose config names no number of layers',
    fault: () => changedConfig({ n_layer: null }),
    code: CORRUPT,
    says: 'n_layer',
  },
];

test.describe('a model', { tag: ANY_BACKEND }, () => {
  for (const { title, fault, code, says } of BAD_MODELS) {
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
