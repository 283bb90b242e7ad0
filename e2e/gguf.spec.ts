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
