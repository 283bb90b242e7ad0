import { readFileSync } from 'node:fs';

import { smollm2File } from '../tools/reference/gguf/smollm2.ts';
import { decoderReferences } from './support/decoder-reference.ts';
import { expectReferenceTokens } from './support/expect-reference.ts';
import { GGUF_FAMILIES, GGUF_TWIN, loadModel, storedModels, test } from './support/hub-test.ts';
import { pressOn, typeInto } from './support/keyboard.ts';
import { ANY_BACKEND, expect, IS_WHOLE } from './support/test.ts';

test.describe('a GGUF file', { tag: ANY_BACKEND }, () => {
  test("of the hub, named by its type, gives PyTorch's tokens, and loads again without the hub", async ({
    freshTab,
    hub,
    backend,
  }) => {
    const model = `${GGUF_TWIN}:F32`;
    const { value } = await loadModel(freshTab, model, { hub: hub.url });
    expect(value).toMatchObject({ state: 'ready', model: { id: model } });
    await expectReferenceTokens(freshTab);
    expect(await storedModels(freshTab)).toMatchObject([{ id: model, revision: 'main' }]);
    hub.fault = () => ({ status: 503 });
    hub.forget();
    await freshTab.open(`?backend=${backend}`);
    expect((await freshTab.ready()).model?.id).toBe(model);
    await expectReferenceTokens(freshTab);
    expect(hub.requests).toEqual([]);
  });
});

test(
  'each family as a GGUF file gives the tokens that PyTorch gives in float64',
  { tag: ANY_BACKEND },
  async ({ hubTab, hub }) => {
    for (const [id] of GGUF_FAMILIES) {
      const { prompts = [] } = decoderReferences[id] ?? {};
      expect(prompts).not.toEqual([]);
      await test.step(id, async () => {
        const { value, message } = await loadModel(hubTab, `${id}-gguf`, { hub: hub.url, dtype: 'fp32' });
        expect(message).toBeUndefined();
        expect(value?.model).toMatchObject({ id: `${id}-gguf`, contextLength: 256 });
        const options = { temperature: 0, ignoreEos: true, maxNewTokens: 32 };
        const results = await hubTab.generateAll(prompts.map(({ prompt }) => ({ prompt, options })));
        expect(results.map(({ tokenIds }) => tokenIds)).toEqual(
          prompts.map(({ greedyTokenIds }) => greedyTokenIds),
        );
      });
    }
  },
);

test(
  'a GGUF file that nobody has named, or that is not there, is refused with the names of those that are',
  { tag: ANY_BACKEND },
  async ({ hubTab, hub }) => {
    const unclear = { code: 'GGUF_FILE_UNCLEAR', message: expect.stringContaining('twin-F32.gguf') };
    for (const [model, options] of [
      [GGUF_TWIN, {}],
      [`${GGUF_TWIN}:Q4_K_M`, {}],
      [GGUF_TWIN, { file: 'other.gguf' }],
    ] as const) {
      expect(await loadModel(hubTab, model, { hub: hub.url, ...options })).toMatchObject(unclear);
    }
    expect(
      (await loadModel(hubTab, GGUF_TWIN, { hub: hub.url, file: 'twin-f32-copy.gguf' })).value?.model?.id,
    ).toBe(`${GGUF_TWIN}:twin-f32-copy.gguf`);
    await expectReferenceTokens(hubTab);
  },
);

test(
  'the page lists the files of a repository that has several, and loads the chosen one by keyboard',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub }) => {
    const { page } = ownTab;
    await ownTab.open(`?backend=wasm&hub=${hub.url}`);
    await ownTab.ready();
    const panel = (await ownTab.openStatus()).locator('.models');
    await test.step('a search of the hub says what fits, and leads to the files', async () => {
      await typeInto(page, panel.getByLabel('Hugging Face model ID'), GGUF_TWIN.split('/').at(-1) ?? '');
      await page.keyboard.press('Enter');
      const found = panel.getByRole('list', { name: /^Models named/ });
      await expect(found.getByRole('listitem').filter({ hasText: GGUF_TWIN })).toContainText(
        /GGUF · fits this device · 1K downloads/,
      );
      await pressOn(page, found.getByRole('button', { name: `Files of ${GGUF_TWIN}` }));
    });
    // As the browser's bar has it.
    await typeInto(page, panel.getByLabel('Hugging Face model ID'), `https://huggingface.co/${GGUF_TWIN}`);
    const files = panel.getByRole('list', { name: `GGUF files of ${GGUF_TWIN}` });
    await pressOn(page, panel.getByRole('button', { name: 'List its GGUF files' }));
    await expect(files.getByRole('listitem')).toHaveText([
      /twin-F32\.gguf \d.* MB, fits this device/,
      /copy/,
    ]);
    await expect(panel.getByRole('alert')).toHaveCount(0);
    await expect(panel.getByRole('list', { name: /^Models named/ }), 'an earlier question').toHaveCount(0);
    await ownTab.open(`?backend=wasm&hub=${hub.url}`);
    await ownTab.ready();
    await ownTab.openStatus();
    await typeInto(page, panel.getByLabel('Hugging Face model ID'), GGUF_TWIN);
    await page.keyboard.press('Enter');
    await expect(panel.getByRole('alert')).toContainText('GGUF_FILE_UNCLEAR');
    await pressOn(page, files.getByRole('button', { name: 'Load twin-f32-copy.gguf' }));
    await expect.poll(async () => (await ownTab.status()).model?.id).toBe(`${GGUF_TWIN}:twin-f32-copy.gguf`);
  },
);

test(
  'SmolLM2-135M-Instruct as Q4_1 gives the tokens of transformers to eight chats, alone and together',
  { tag: ANY_BACKEND },
  async ({ ownTab }) => {
    test.skip(!IS_WHOLE, 'the model is fetched from PyPI: in the whole suite');
    test.setTimeout(600_000);
    const reference = readSmollm2Reference();
    await ownTab.open('?backend=wasm');
    await ownTab.ready();
    const box = await ownTab.openStatus();
    // The reference computes in it; the CPU would take q8 by itself.
    await box.getByRole('combobox', { name: 'Precision' }).selectOption('fp32');
    await ownTab.pickModel('or a GGUF file', await smollm2File());
    const name = 'SmolLM2-135M-Instruct.Q4_1';
    await expect.poll(async () => (await ownTab.status()).model?.id, { timeout: 300_000 }).toBe(name);

    const answers = await ownTab.page.evaluate(
      async (questions) => {
        // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the page
        const ask = (content: string) =>
          window.tabserve
            .getHandle('text-generator')
            .remote([{ role: 'user', content }], { temperature: 0, maxNewTokens: 48 })
            .result();
        const together = await Promise.all(questions.map(ask));
        const alone: typeof together = [];
        for (const question of questions) alone.push(await ask(question));
        return {
          together: together.map(({ tokenIds }) => tokenIds),
          alone: alone.map(({ tokenIds }) => tokenIds),
        };
      },
      reference.chats.map(({ question }) => question),
    );
    // A result leaves the end token out.
    const expected = reference.chats.map(({ tokenIds }) => tokenIds.filter((id) => id !== END_TOKEN));
    expect(answers).toEqual({ together: expected, alone: expected });

    const { promptLogprobs = [] } = await ownTab.generate(reference.text, {
      maxNewTokens: 0,
      promptLogprobs: 0,
    });
    const logprobs = promptLogprobs.flatMap(({ logprob }) => logprob ?? []);
    const mean = logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length;
    expect(Math.abs(mean - reference.logLikelihood)).toBeLessThan(0.001);
  },
);

const END_TOKEN = 2;

interface Smollm2Reference {
  readonly chats: readonly { readonly question: string; readonly tokenIds: readonly number[] }[];
  readonly text: string;
  /** Mean of the text's log probabilities. */
  readonly logLikelihood: number;
}

function readSmollm2Reference(): Smollm2Reference {
  const url = new URL('../tools/reference/fixtures/gguf-smollm2-reference.json', import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8'));
}
