import type { ChatMessage } from '../src/protocol/chat.ts';
import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { installAiSdk } from './support/ai-sdk.ts';
import { test } from './support/hub-test.ts';
import { greedyTokenIds, reference } from './support/reference.ts';
import { shareSite } from './support/shared-site.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

const MAX_TOKENS = 24;
const HELLO: readonly ChatMessage[] = [{ role: 'user', content: 'Hello' }];

/** PyTorch's greedy texts. */
const expectedTexts = ({ page }: Tab): Promise<readonly string[]> =>
  page.evaluate(
    (continuations) =>
      Promise.all(continuations.map(async (tokenIds) => (await window.tabserve.detokenize(tokenIds)).text)),
    reference.prompts.map((prompt) => greedyTokenIds(prompt, MAX_TOKENS)),
  );

const generateTexts = ({ page }: Tab, prompts: readonly string[]) =>
  page.evaluate(
    ({ inputs, maxOutputTokens }) => {
      const model = window.aiSdk.provider().completionModel('storyteller');
      return Promise.all(
        inputs.map(async (prompt) => {
          const { text, usage } = await window.aiSdk.generateText({
            model,
            prompt,
            maxOutputTokens,
            temperature: 0,
          });
          return { text, usage: { inputTokens: usage.inputTokens } };
        }),
      );
    },
    { inputs: prompts, maxOutputTokens: MAX_TOKENS },
  );

test.describe('the AI SDK', { tag: ANY_BACKEND }, () => {
  const openTabs = shareSite();

  test("generateText of two tabs gives PyTorch's texts, in batches of eight", async () => {
    const { tabs } = await openTabs(2);
    for (const tab of tabs) await installAiSdk(tab);
    const [first, second] = tabs;
    if (!first || !second) throw new Error('There are two tabs.');
    await first.configure({ maxBatchSize: 8, batchWaitTimeoutMs: 1000 });
    const prompts = reference.prompts.slice(0, 8);
    await first.forget();
    const texts = prompts.map(({ prompt }) => prompt);
    const answers = await Promise.all([
      generateTexts(first, texts.slice(0, 4)),
      generateTexts(second, texts.slice(4)),
    ]);
    // Steps share messages, so the last ones may come behind the answers.
    const sizes = (await first.steps('decode')).map(({ batchSize }) => batchSize);
    expect(Math.max(...sizes)).toBe(8);
    expect(answers.flat().map(({ text }) => text)).toEqual((await expectedTexts(first)).slice(0, 8));
    expect(answers.flat().map(({ usage }) => usage.inputTokens)).toEqual(
      prompts.map(({ promptTokenIds }) => promptTokenIds.length),
    );
  });

  test('an abort ends the request in the worker', async ({ tab }) => {
    await installAiSdk(tab);
    await tab.keepCompany(200);
    const { texts, ending } = await tab.page.evaluate(async () => {
      const controller = new AbortController();
      const { fullStream } = window.aiSdk.streamText({
        model: window.aiSdk.provider().completionModel('storyteller'),
        prompt: 'Once upon a time,',
        maxOutputTokens: 400,
        abortSignal: controller.signal,
        providerOptions: { tabserve: { ignoreEos: true } },
      });
      const deltas: string[] = [];
      let last = '';
      for await (const part of fullStream) {
        last = part.type;
        if (part.type === 'text-delta') deltas.push(part.text);
        if (deltas.length === 2) controller.abort();
      }
      return { texts: deltas, ending: last };
    });
    expect(texts.length).toBeGreaterThan(1);
    expect(ending).toBe('abort');
    await tab.cancelBegun();
    await tab.whenIdle();
    expect((await tab.steps('decode')).length).toBeLessThan(399);
  });

  test('a stream goes on where it was when the leader is closed: no text is told twice', async () => {
    const site = await openTabs(2);
    const [leader, [follower]] = [await site.leader(), await site.followers()];
    if (!follower) throw new Error('One of two tabs follows');
    await installAiSdk(follower);
    // With a token a step, the text lasts until the leader is gone.
    await follower.configure({ promptLookup: false });
    const prompt = 'Once upon a time,';
    const options = { maxNewTokens: 450, temperature: 0, ignoreEos: true };
    const alone = await follower.generate(prompt, options);
    await follower.forget();
    await site.endOnceStreamed(leader, follower, 10);
    const streamed = follower.page.evaluate(
      async ({ text, maxOutputTokens }) => {
        const { textStream, usage, finishReason } = window.aiSdk.streamText({
          model: window.aiSdk.provider().completionModel('storyteller'),
          prompt: text,
          maxOutputTokens,
          temperature: 0,
          providerOptions: { tabserve: { ignoreEos: true } },
        });
        let joined = '';
        for await (const delta of textStream) joined += delta;
        return { joined, numTokens: (await usage).outputTokens, reason: await finishReason };
      },
      { text: prompt, maxOutputTokens: options.maxNewTokens },
    );
    expect(await streamed).toEqual({
      joined: alone.generatedText,
      numTokens: options.maxNewTokens,
      reason: 'length',
    });
    const resubmitted = (await follower.updates()).filter(({ type }) => type === 'resubmitted');
    expect(resubmitted).toHaveLength(1);
    // Chromium loses a close in the middle of a navigation.
    await leader.page.waitForURL('about:blank');
    await site.close(leader);
  });

  test('useChat streams the answers of the model that it names, and stops one', async ({ readyTab, hub }) => {
    await installAiSdk(readyTab);
    const { page } = readyTab;
    await page.evaluate((props) => window.aiSdk.mountChat(props), {
      modelId: CHAT_MODEL,
      maxOutputTokens: 200,
      load: { hub: hub.url },
    });
    const chat = page.getByRole('region', { name: 'AI SDK chat' });
    const answers = chat.locator('[data-role=assistant]');
    await chat.getByRole('button', { name: 'Say hello' }).click();
    await expect(chat).toHaveAttribute('data-status', 'ready', { timeout: 60_000 });
    expect((await readyTab.status()).model?.id).toBe(CHAT_MODEL);
    const { generatedText } = await readyTab.generate(HELLO, {
      maxNewTokens: 200,
      temperature: 0,
      ignoreEos: true,
    });
    await expect(answers).toHaveText([generatedText], { useInnerText: false });

    await chat.getByRole('button', { name: 'Say hello' }).click();
    await expect(answers.nth(1)).not.toBeEmpty();
    await chat.getByRole('button', { name: 'Stop the answer' }).click();
    await expect(chat).toHaveAttribute('data-status', 'ready');
    await readyTab.whenIdle();
    await expect(chat.getByRole('alert')).toHaveCount(0);
    expect(readyTab.errors).toEqual([]);
  });

  test('a base model has no chats, and a setting out of range says so', async ({ tab }) => {
    await installAiSdk(tab);
    const codes = await tab.page.evaluate(async () => {
      const tabserve = window.aiSdk.provider();
      const calls = [
        { model: tabserve('storyteller'), prompt: 'Hello' },
        { model: tabserve.completionModel('storyteller'), prompt: 'Hello', temperature: -1 },
        {
          model: tabserve.completionModel('storyteller'),
          prompt: 'Hello',
          providerOptions: { tabserve: { heat: 1 } },
        },
      ];
      const outcomes = await Promise.allSettled(calls.map((call) => window.aiSdk.generateText(call)));
      return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'fulfilled'));
    });
    expect(codes).toEqual(['NO_CHAT_TEMPLATE', 'INVALID_OPTION', 'UNKNOWN_OPTION']);
  });
});
