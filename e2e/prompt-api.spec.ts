import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { test } from './support/hub-test.ts';
import { installPromptApi } from './support/prompt-api.ts';
import { openTab, type Tab } from './support/tab.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

const GREEDY = { samplingMode: 'most-predictable' } as const;
/** Long enough that two answers run beside each other. */
const LONG = { generation: { maxNewTokens: 400, ignoreEos: true } };
const SHORT = { generation: { maxNewTokens: 24, ignoreEos: true } };

interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const system = (content: string): Message => ({ role: 'system', content });

const START = 256;
const END = 258;

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)];
const beginningOf = (role: string): readonly number[] => [START, ...bytesOf(`${role}\n`)];

/** A chat as the model's template renders it, written by hand: each byte is a token, and so is each role marker. */
function tokensOf(messages: readonly Message[]): readonly number[] {
  return [
    ...messages.flatMap(({ role, content }) => [
      ...beginningOf(role),
      ...bytesOf(content),
      END,
      ...bytesOf('\n'),
    ]),
    ...beginningOf('assistant'),
  ];
}

/** Tokens of a chat without the beginning of an answer. */
const sizeOf = (messages: readonly Message[]): number => tokensOf(messages).length - tokensOf([]).length;

/** The greedy answer to a chat, asked for without the API: by its tokens alone. */
async function answerOf(
  tab: Tab,
  messages: readonly Message[],
  { generation }: typeof LONG,
): Promise<string> {
  const { generatedText } = await tab.generate([...tokensOf(messages)], { ...generation, temperature: 0 });
  return generatedText;
}

/** Answers to prompts of one new session, one after another. */
const answersTo = ({ page }: Tab, prompts: readonly (string | readonly Message[])[]): Promise<string[]> =>
  page.evaluate(
    async ({ inputs, options }) => {
      const session = await window.LanguageModel.create(options);
      const answers: string[] = [];
      for (const input of inputs) answers.push(await session.prompt(input));
      return answers;
    },
    { inputs: prompts, options: GREEDY },
  );

test.describe('the Prompt API', { tag: ANY_BACKEND }, () => {
  test('sessions of two tabs are decoded in one batch, and each answer is what the model says alone', async ({
    chatTab: first,
    backend,
  }) => {
    const second = await openTab(first.page.context(), backend);
    const tabs = [first, second];
    for (const tab of tabs) await installPromptApi(tab, LONG);
    const texts = ['Hello, who is there?', 'What is a browser tab?'];
    const expected = [];
    for (const text of texts) expected.push(await answerOf(first, [user(text)], LONG));
    await first.forget();
    // The first prompt waits for the second, however late the second tab is. With a token a step, both last as long as their texts.
    await first.configure({ maxBatchSize: 2, batchWaitTimeoutMs: 30_000, promptLookup: false });
    const answers = await Promise.all(tabs.map((tab, index) => answersTo(tab, [texts[index] ?? ''])));
    expect(answers.flat()).toEqual(expected);
    await first.whenIdle();
    const sizes = (await first.steps('decode')).map(({ batchSize }) => batchSize);
    expect(sizes.filter((size) => size === 2).length).toBeGreaterThan(sizes.length / 2);
    expect(second.errors).toEqual([]);
    await second.page.close();
  });

  test('a session keeps its context: prompts, an append, a clone, a stream', async ({ chatTab }) => {
    await installPromptApi(chatTab, SHORT);
    const ask = (messages: readonly Message[]): Promise<string> => answerOf(chatTab, messages, SHORT);

    const [one, two] = await answersTo(chatTab, ['one', 'two']);
    expect(one).toBe(await ask([user('one')]));
    expect(two).toBe(await ask([user('one'), assistant(one ?? ''), user('two')]));

    const both = [user('Here is a text.'), user('What is it about?')];
    const appended = await chatTab.page.evaluate(
      async ({ messages: [text, question], options }) => {
        const session = await window.LanguageModel.create(options);
        await session.append(text ? [text] : []);
        const usage = session.contextUsage;
        return { usage, answer: await session.prompt(question ? [question] : []) };
      },
      { messages: both, options: GREEDY },
    );
    expect(appended).toEqual({ usage: sizeOf(both.slice(0, 1)), answer: await ask(both) });
    expect(await answersTo(chatTab, [both])).toEqual([appended.answer]);

    const cloned = await chatTab.page.evaluate(async (options) => {
      const session = await window.LanguageModel.create(options);
      await session.prompt('one');
      const clone = await session.clone();
      const usages = [session.contextUsage, clone.contextUsage];
      const answers = await Promise.all([session.prompt('left'), clone.prompt('right')]);
      return { usages, answers };
    }, GREEDY);
    const [usage, cloneUsage] = cloned.usages;
    expect(cloneUsage).toBe(usage);
    const turn = [user('one'), assistant(one ?? '')];
    expect(cloned.answers).toEqual([await ask([...turn, user('left')]), await ask([...turn, user('right')])]);

    const streamed = await chatTab.page.evaluate(async (options) => {
      const session = await window.LanguageModel.create(options);
      const deltas: string[] = [];
      for await (const delta of session.promptStreaming('one')) deltas.push(delta);
      return { deltas, next: await session.prompt('two') };
    }, GREEDY);
    expect(streamed.deltas.length).toBeGreaterThan(1);
    expect(streamed.deltas.join('')).toBe(one);
    expect(streamed.next).toBe(two);

    const continued = await chatTab.page.evaluate(async (options) => {
      const session = await window.LanguageModel.create(options);
      const prefix = { role: 'assistant', content: 'I am ', prefix: true } as const;
      return session.prompt([{ role: 'user', content: 'Who are you?' }, prefix]);
    }, GREEDY);
    const tokens = [...tokensOf([user('Who are you?')]), ...Buffer.from('I am ')];
    const options = { ...SHORT.generation, temperature: 0 };
    expect(continued).toBe((await chatTab.generate(tokens, options)).generatedText);
    expect(chatTab.errors).toEqual([]);
  });

  test('an append is computed ahead, and a prompt takes over its keys and values', async ({ chatTab }) => {
    await installPromptApi(chatTab, SHORT);
    await chatTab.page.evaluate(async (options) => {
      const session = await window.LanguageModel.create(options);
      await session.append('A long text. '.repeat(30));
      await session.prompt('What was it about?');
    }, GREEDY);
    const steps = await chatTab.steps('prefill');
    const numTokens = steps.map((step) => step.numTokens);
    expect(numTokens.at(-1), 'tokens of the prompt after the append').toBeLessThan(60);
    expect(numTokens.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(390);
  });

  test('destroy() ends the answer that runs, here and in the worker', async ({ chatTab }) => {
    await installPromptApi(chatTab, { generation: { maxNewTokens: 900, ignoreEos: true } });
    const names = await chatTab.page.evaluate(async (options) => {
      const session = await window.LanguageModel.create(options);
      const reader = session.promptStreaming('Hello').getReader();
      await reader.read();
      const waiting = session.prompt('Next');
      session.destroy();
      const read = async (): Promise<never> => {
        for (;;) await reader.read();
      };
      const outcomes = await Promise.allSettled([read(), waiting, session.prompt('Late')]);
      return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.name : 'fulfilled'));
    }, GREEDY);
    expect(names).toEqual(['AbortError', 'AbortError', 'AbortError']);
    await chatTab.whenIdle();
    expect((await chatTab.steps('decode')).length).toBeLessThan(900);
    expect(chatTab.errors).toEqual([]);
  });

  test('an overflow evicts the oldest pairs, and keeps the initial prompts', async ({ chatTab }) => {
    await installPromptApi(chatTab, SHORT);
    const initialPrompts = [system('Answer in letters.')];
    const prompts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(260));
    const {
      answers,
      events,
      usage,
      window: contextWindow,
      refused,
    } = await chatTab.page.evaluate(
      async ({ options, inputs }) => {
        const session = await window.LanguageModel.create(options);
        const overflows: number[] = [];
        const received: string[] = [];
        session.oncontextoverflow = () => overflows.push(received.length);
        for (const input of inputs) received.push(await session.prompt(input));
        const refusal = await session.prompt('x'.repeat(session.contextWindow)).catch((error: unknown) => {
          if (!(error instanceof DOMException)) throw error;
          const { name } = error;
          return { name, requested: Reflect.get(error, 'requested'), quota: Reflect.get(error, 'quota') };
        });
        return {
          answers: received,
          events: overflows,
          usage: session.contextUsage,
          window: session.contextWindow,
          refused: refusal,
        };
      },
      { options: { ...GREEDY, initialPrompts }, inputs: prompts },
    );
    expect(contextWindow).toBe(1024);
    const pairs = prompts.map((prompt, index) => [user(prompt), assistant(answers[index] ?? '')]);
    // A pair has 305 tokens, and with the room of an answer two fit. The session's fourth prompt leaves the third alone.
    expect(events).toEqual([2, 3]);
    const [, , third = [], fourth = []] = pairs;
    expect(usage).toBe(sizeOf([...initialPrompts, ...third, ...fourth]));
    expect(answers[3]).toBe(
      await answerOf(chatTab, [...initialPrompts, ...third, ...fourth.slice(0, 1)], SHORT),
    );
    expect(refused).toEqual({
      name: 'QuotaExceededError',
      requested: usage + sizeOf([user('x'.repeat(1024))]),
      quota: 1024,
    });
  });

  test('create() loads the named model, and says how far it is; a base model is refused', async ({
    freshTab,
    hub,
  }) => {
    const { page } = freshTab;
    await installPromptApi(freshTab);
    const refused = await page.evaluate(async () => {
      const error = await window.LanguageModel.create().catch((reason: unknown) => reason);
      return { availability: await window.LanguageModel.availability(), message: String(error) };
    });
    expect(refused.availability).toBe('unavailable');
    expect(refused.message).toMatch(/^NotSupportedError: storyteller has no chat template/);

    await installPromptApi(freshTab, { model: CHAT_MODEL, load: { hub: hub.url } });
    expect(await page.evaluate(() => window.LanguageModel.availability())).toBe('downloadable');
    const outcome = await page.evaluate(async () => {
      const loaded: number[] = [];
      const session = await window.LanguageModel.create({
        monitor: (monitor) =>
          monitor.addEventListener('downloadprogress', (event) => loaded.push(event.loaded)),
      });
      const answer = await session.prompt('Hello');
      return { loaded, answer, availability: await window.LanguageModel.availability() };
    });
    expect(outcome.availability).toBe('available');
    expect(outcome.answer.length).toBeGreaterThan(0);
    expect([outcome.loaded[0], outcome.loaded.at(-1)]).toEqual([0, 1]);
    expect(outcome.loaded).toEqual(outcome.loaded.toSorted((a, b) => a - b));
  });
});
