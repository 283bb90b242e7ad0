import {
  ADDED_BEYOND,
  ENCODER_BEYOND,
  loadModel,
  test,
  TWIN,
  UNSEEN,
  VOCABULARY_BEYOND,
} from './support/hub-test.ts';
import { Site } from './support/site.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

const PROMPT = 'Once upon a time,';
const SAMPLED = { maxNewTokens: 60, temperature: 1, seed: 3, ignoreEos: true };

test(
  'a text with a token beyond the embedding is refused at once, and the text of another tab is the same as alone',
  { tag: ANY_BACKEND },
  async ({ hubTab: tab, hub, backend }) => {
    const site = new Site(tab.page.context(), backend);
    const [other] = await site.openReady(1);
    if (!other) throw new Error('There is no second tab.');
    expect((await loadModel(tab, ADDED_BEYOND, { hub: hub.url })).message).toBeUndefined();
    const alone = await other.generate(PROMPT, SAMPLED);
    await other.begin([{ prompt: PROMPT, options: SAMPLED }]);
    await other.whenStreamed(2);
    const outcomes = await tab.outcomesOf(
      [`${PROMPT} ${UNSEEN}`, UNSEEN, `${UNSEEN}${UNSEEN}`].map((prompt) => ({ prompt })),
    );
    for (const { code, message } of outcomes) {
      expect(code).toBe('TOKEN_WITHOUT_EMBEDDING');
      expect(message).toContain(`${UNSEEN} with the id 2048`);
    }
    const [beside] = await other.outcomesOfBegun();
    expect(beside?.value?.tokenIds).toEqual(alone.tokenIds);
    const { recovery, state } = await tab.status();
    expect({ recovery, state, numWorkers: site.numWorkers }).toEqual({
      recovery: undefined,
      state: 'ready',
      numWorkers: 1,
    });
    expect(other.errors).toEqual([]);
    await site.close(other);
  },
);

test(
  'a text with a token beyond the embedding of an encoder is refused, and texts beside it are embedded',
  { tag: ANY_BACKEND },
  async ({ hubTab: tab, hub }) => {
    expect((await loadModel(tab, ENCODER_BEYOND, { hub: hub.url })).message).toBeUndefined();
    const codes = await tab.page.evaluate(
      async (texts) => {
        const calls = texts.map(async (text) => window.tabserve.getHandle('embedder').remote([text]));
        return (await Promise.allSettled(calls)).map((call) =>
          call.status === 'rejected' ? Reflect.get(Object(call.reason), 'code') : 'embedded',
        );
      },
      ['fox', `fox ${UNSEEN}`, 'dog'],
    );
    expect(codes).toEqual(['embedded', 'TOKEN_WITHOUT_EMBEDDING', 'embedded']);
    expect((await tab.status()).recovery).toBeUndefined();
  },
);

test(
  'a vocabulary beyond the embedding is refused at the load, and the model before it serves on',
  { tag: ANY_BACKEND },
  async ({ hubTab: tab, hub }) => {
    await loadModel(tab, TWIN, { hub: hub.url });
    const before = await tab.generate(PROMPT, SAMPLED);
    const { message } = await loadModel(tab, VOCABULARY_BEYOND, { hub: hub.url });
    expect(message).toContain('2048');
    expect((await tab.status()).model?.id).toBe(TWIN);
    expect((await tab.generate(PROMPT, SAMPLED)).tokenIds).toEqual(before.tokenIds);
  },
);
