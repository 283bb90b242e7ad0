import { decoderReferences } from './support/decoder-reference.ts';
import type { HubServer } from '../tools/hub-server/hub-server.ts';
import { DECODER_CHATS, loadModel, SHARDED, test } from './support/hub-test.ts';
import { someOf } from './support/seeded-random.ts';
import type { Site } from './support/site.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, IS_WHOLE } from './support/test.ts';

const ON_WEBGPU: readonly string[] = DECODER_CHATS.map(({ id }) => id);

/** One with rotary scaling or a sliding window, and one that keeps state of a fixed size. */
const IN_SHORT = [...someOf([SHARDED, 'generated/mistral'], 1), ...someOf(ON_WEBGPU, 1)];

const GREEDY = { temperature: 0, ignoreEos: true, maxNewTokens: 32 };

test(
  'another tab goes on with the texts of each decoder when the tab that serves it is closed',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ site, hub, backend }) => {
    const ids = Object.keys(decoderReferences).filter((id) => IS_WHOLE || IN_SHORT.includes(id));
    test.setTimeout(ids.length * 180_000);
    for (const id of ids) {
      // Each compiles its shaders for seconds.
      if (backend === 'webgpu' && !ON_WEBGPU.includes(id)) continue;
      await test.step(id, async () => {
        await site.openReady(2 - site.tabs.length);
        await expectToGoOn(site, id, hub);
      });
    }
  },
);

async function expectToGoOn(site: Site, id: string, hub: HubServer): Promise<void> {
  const { prompts = [] } = decoderReferences[id] ?? {};
  const leader = await site.leader();
  const [follower] = await site.followers();
  if (!follower) throw new Error('There is no follower.');
  const { value, message } = await loadModel(leader, id, { hub: hub.url, dtype: 'fp32' });
  expect(message).toBeUndefined();
  expect(value?.model).toMatchObject({ id, contextLength: 256 });
  await expect.poll(async () => (await follower.status()).model?.id).toBe(id);
  const sampled = prompts.slice(0, 4).map(({ prompt }, seed) => {
    return { prompt, options: { ...GREEDY, temperature: 1, topK: 40, seed } };
  });
  const undisturbed = await follower.generateAll(sampled);
  await follower.forget();

  const requests = [...prompts.map(({ prompt }) => ({ prompt, options: GREEDY })), ...sampled];
  await site.endOnceStreamed(leader, follower, 4);
  const numTimes = await follower.beginUntilLeading(requests);
  const outcomes = await follower.outcomesOfBegun();

  const expected = [
    ...prompts.map(({ greedyTokenIds }) => greedyTokenIds),
    ...undisturbed.map(({ tokenIds }) => tokenIds),
  ];
  expect(outcomes.map(({ value: result, code }) => code ?? result?.tokenIds)).toEqual(
    Array.from({ length: numTimes }, () => expected).flat(),
  );
  expect(outcomes.map(({ streamed }) => streamed.tokenIds)).toEqual(
    outcomes.map(({ value: result }) => result?.tokenIds),
  );
  expect((await follower.updates()).map(({ type }) => type)).toContain('resubmitted');
  await follower.cancelBegun();
  // Chromium loses a close in the middle of a navigation.
  await leader.page.waitForURL('about:blank');
  await site.close(leader);
}

test(
  'a text ends at any of the end tokens that generation_config.json names',
  { tag: ANY_BACKEND },
  async ({ hubTab: tab, hub }) => {
    await loadModel(tab, SHARDED, { hub: hub.url, dtype: 'fp32' });
    const [first] = decoderReferences[SHARDED]?.prompts ?? [];
    if (!first) throw new Error('There is no prompt.');
    const { prompt, greedyTokenIds } = first;
    const result = await tab.generate(prompt, { ...GREEDY, ignoreEos: false });
    expect(result).toMatchObject({ tokenIds: greedyTokenIds.slice(0, 6), finishReason: 'stop' });
    expect((await tab.generate(prompt, GREEDY)).tokenIds).toEqual(greedyTokenIds);
  },
);
