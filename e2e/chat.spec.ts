import { lengthOfChat, type ChatMessage } from '../src/protocol/chat.ts';
import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { loadModel, DECODER_CHATS, test } from './support/hub-test.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect } from './support/test.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });

const CHAT = [{ role: 'system', content: 'Answer in letters.' } as const, user('Hello, who is there?')];
const SAMPLED = { temperature: 0.7, topK: 20, seed: 5, ignoreEos: true };

/** Tokens of prompts that were taken from the cache. */
async function numCacheHits({ page }: Tab): Promise<number> {
  const metrics = await page.evaluate(() => window.tabserve.metrics());
  return Number(/^vllm:prefix_cache_hits_total (\d+)$/m.exec(metrics)?.[1]);
}

/** A prompt's state is copied before so many of its last tokens. */
const PROMPT_END_TOKENS = 16;

for (const { chatId } of DECODER_CHATS)
  test(
    `the next turn of a chat with ${chatId} goes on from what the last one left, and has its own text`,
    { tag: ANY_BACKEND_IN_SHORT },
    async ({ hubTab, hub }) => {
      await loadModel(hubTab, chatId, { hub: hub.url, dtype: 'fp32' });
      const options = { temperature: 0, ignoreEos: true, maxNewTokens: 24 };
      const { text, usage } = await hubTab.generate(CHAT, options);
      expect(usage.numCachedTokens).toBe(0);
      const turn = [...CHAT, assistant(text), user('And who are you?')];
      const next = await hubTab.generate(turn, options);
      // An answer whose bytes are no text is another one in the next turn, which goes on from the copy then.
      expect(next.usage.numCachedTokens).toBeGreaterThanOrEqual(usage.numPromptTokens - PROMPT_END_TOKENS);
      expect(next.usage.numCachedTokens).toBeLessThan(usage.numPromptTokens + options.maxNewTokens);
      await hubTab.configure({ prefixCaching: false });
      const alone = await hubTab.generate(turn, options);
      expect([alone.tokenIds, alone.usage.numCachedTokens]).toEqual([next.tokenIds, 0]);
    },
  );

test.describe('a chat', { tag: ANY_BACKEND }, () => {
  test('is answered, and its next turn takes over what the cache has of it, without another answer', async ({
    chatTab,
  }) => {
    expect((await chatTab.status()).model).toMatchObject({ id: CHAT_MODEL, hasChatTemplate: true });
    const numHits = await numCacheHits(chatTab);
    const first = await chatTab.generate(CHAT, { maxNewTokens: 40 });
    expect(first.text).toMatch(/^[a-z ]{1,40}$/);
    // Each byte is one token, and so is each role marker.
    const marks =
      '<|im_start|>system\n<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n'.replaceAll(
        /<\|\w+\|>/g,
        '#',
      );
    const numContent = lengthOfChat(CHAT);
    expect(first.usage).toMatchObject({ numPromptTokens: marks.length + numContent, numCachedTokens: 0 });
    const second = [...CHAT, assistant(first.text), user('And who are you?')];
    const next = await chatTab.generate(second, { maxNewTokens: 40 });
    // The last generated token is never fed in, unless the end token follows it.
    const numLast = first.finishReason === 'stop' ? 0 : 1;
    const numComputed = first.usage.numPromptTokens + first.tokenIds.length - numLast;
    expect(next.usage.numCachedTokens).toBe(numComputed);
    const [step] = (await chatTab.steps('prefill')).slice(-1);
    expect(step?.numTokens, 'tokens that were computed').toBe(next.usage.numPromptTokens - numComputed);
    expect((await numCacheHits(chatTab)) - numHits).toBe(numComputed);
    await chatTab.configure({ prefixCaching: false });
    const alone = await chatTab.generate(second, { maxNewTokens: 40 });
    expect([alone.text, alone.usage.numCachedTokens]).toEqual([next.text, 0]);
  });

  test('keeps its keys and values beside other chats, each of which takes turns', async ({ chatTab }) => {
    const chats = ['Ann', 'Bob', 'Cid', 'Dan'].map((name) => [user(`Hello, my name is ${name}, and yours?`)]);
    for (let turn = 0; turn < 3; turn += 1) {
      for (const chat of chats) {
        const { text, usage } = await chatTab.generate(chat, { maxNewTokens: 8 });
        if (turn === 0) expect(usage.numCachedTokens).toBeLessThan(40);
        else expect(usage.numCachedTokens / usage.numPromptTokens).toBeGreaterThan(0.6);
        chat.push(assistant(text), user('Go on.'));
      }
    }
  });

  test('runs until its end where no length is given, and goes through its template with its variables', async ({
    chatTab,
  }) => {
    const outcomes = await chatTab.outcomesOf([
      { prompt: CHAT, options: { ...SAMPLED, ignoreEos: false } },
      {
        prompt: CHAT,
        options: { ...SAMPLED, chatTemplateArguments: { enable_thinking: false }, maxNewTokens: 1 },
      },
      { prompt: CHAT, options: { ...SAMPLED, maxNewTokens: 1 } },
      { prompt: CHAT.toReversed() },
      { prompt: [...CHAT, { role: 'function', content: '' }] },
      { prompt: CHAT, options: { echo: true } },
    ]);
    const [untilEnd, notThinking, thinking, ...refused] = outcomes;
    expect(untilEnd?.value?.finishReason).toBe('stop');
    const added =
      (notThinking?.value?.usage.numPromptTokens ?? 0) - (thinking?.value?.usage.numPromptTokens ?? 0);
    expect(added).toBe('<think>\n\n</think>\n\n'.length);
    expect(refused).toMatchObject([
      {
        code: 'CHAT_TEMPLATE_FAILED',
        message: expect.stringContaining('the system message has to be the first'),
      },
      { code: 'INVALID_OPTION', message: expect.stringContaining('`prompt[2].role`') },
      { code: 'INVALID_OPTION', message: expect.stringContaining('`echo`') },
    ]);
  });

  test('to a base model is refused, also where it replaces the model that answers', async ({
    hubTab,
    hub,
  }) => {
    await loadModel(hubTab, 'storyteller', {});
    const [refused] = await hubTab.outcomesOf([{ prompt: CHAT }]);
    expect(refused).toMatchObject({
      code: 'NO_CHAT_TEMPLATE',
      message: expect.stringContaining('storyteller'),
    });
    await loadModel(hubTab, CHAT_MODEL, { hub: hub.url });
    await hubTab.forget();
    // So many that the last ones are not over when the other model is ready.
    const request = { prompt: CHAT, options: { ...SAMPLED, maxNewTokens: 500 } };
    await hubTab.begin(Array.from({ length: 60 }, () => request));
    await hubTab.whenStreamed(2);
    await loadModel(hubTab, 'storyteller', { whenBusy: 'resubmit' });
    const outcomes = await hubTab.outcomesOfBegun();
    expect(outcomes.at(-1)).toMatchObject({ code: 'NO_CHAT_TEMPLATE' });
  });
});

test.describe('chats of two tabs', { tag: ANY_BACKEND }, () => {
  test('run in one batch, and go on in the middle of an answer when the leader is closed', async ({
    site,
    hub,
  }) => {
    const [first, second] = await site.openPair();
    await loadModel(first, CHAT_MODEL, { hub: hub.url });
    const request = { prompt: CHAT, options: { ...SAMPLED, maxNewTokens: 400 } };
    const alone = await first.generate(request.prompt, request.options);
    for (const tab of [first, second]) await tab.forget();
    const [leader, follower] = [await site.leader(), ...(await site.followers())];
    if (!follower) throw new Error('One of two tabs follows');
    await Promise.all([leader.begin([{ ...request, prompt: [user('Hi')] }]), follower.begin([request])]);
    await follower.whenStreamed(20);
    // The worker reports a step after the step's tokens.
    await follower.page.waitForFunction(() => window.recorder.steps.some(({ batchSize }) => batchSize === 2));
    // So many that some are not over when the tab is gone.
    const numMore = 8;
    await follower.begin(Array.from({ length: numMore }, () => request));
    await site.close(leader);
    const answer = { text: alone.text, tokenIds: alone.tokenIds };
    const outcomes = await follower.outcomesOfBegun();
    expect(outcomes).toHaveLength(1 + numMore);
    for (const { value, streamed } of outcomes) {
      expect(value).toMatchObject(answer);
      expect(streamed).toEqual(answer);
    }
    const types = (await follower.updates()).map(({ type }) => type);
    expect(types).toContain('resubmitted');
  });
});
