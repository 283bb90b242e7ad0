import { decoderReferences } from './support/decoder-reference.ts';
import { expectReferenceTokens } from './support/expect-reference.ts';
import { GGUF_TWIN, loadModel, storedModels, test } from './support/hub-test.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

test.describe('a GGUF file', { tag: ANY_BACKEND }, () => {
  test("of the hub, named by its type, gives PyTorch's tokens, and loads again without the hub", async ({
    ownTab,
    hub,
    backend,
    context,
  }) => {
    const model = `${GGUF_TWIN}:F32`;
    await ownTab.open(`?backend=${backend}`);
    const { value } = await loadModel(ownTab, model, { hub: hub.url });
    expect(value).toMatchObject({ state: 'ready', model: { id: model } });
    await expectReferenceTokens(ownTab);
    expect(await storedModels(ownTab)).toMatchObject([{ id: model, revision: 'main' }]);
    await context.route(`${hub.url}/**`, (route) => route.abort());
    await ownTab.open(`?backend=${backend}`);
    expect((await ownTab.ready()).model?.id).toBe(model);
    await expectReferenceTokens(ownTab);
  });
});

for (const [id, { prompts }] of Object.entries(decoderReferences)) {
  // Mistral's window has no place in a GGUF file.
  if (id.endsWith('mistral')) continue;
  test(`${id} as a GGUF file gives the tokens that PyTorch gives in float64`, async ({ ownTab, hub }) => {
    await ownTab.open('?backend=wasm');
    const { value, message } = await loadModel(ownTab, `${id}-gguf`, { hub: hub.url, dtype: 'fp32' });
    expect(message).toBeUndefined();
    expect(value?.model).toMatchObject({ id: `${id}-gguf`, contextLength: 256 });
    const options = { temperature: 0, ignoreEos: true, maxNewTokens: 32 };
    const results = await ownTab.generateAll(prompts.map(({ prompt }) => ({ prompt, options })));
    expect(results.map(({ tokenIds }) => tokenIds)).toEqual(
      prompts.map(({ greedyTokenIds }) => greedyTokenIds),
    );
  });
}

test('a GGUF file that nobody has named, or that is not there, is refused with the names of those that are', async ({
  ownTab,
  hub,
}) => {
  await ownTab.open('?backend=wasm');
  const unclear = { code: 'GGUF_FILE_UNCLEAR', message: expect.stringContaining('twin-F32.gguf') };
  for (const [model, options] of [
    [GGUF_TWIN, {}],
    [`${GGUF_TWIN}:Q4_K_M`, {}],
    [GGUF_TWIN, { file: 'other.gguf' }],
  ] as const) {
    expect(await loadModel(ownTab, model, { hub: hub.url, ...options })).toMatchObject(unclear);
  }
  expect(
    (await loadModel(ownTab, GGUF_TWIN, { hub: hub.url, file: 'twin-f32-copy.gguf' })).value?.model?.id,
  ).toBe(`${GGUF_TWIN}:twin-f32-copy.gguf`);
  await expectReferenceTokens(ownTab);
});
