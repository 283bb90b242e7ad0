import type { GenerationOptions, GenerationResult } from '../../src/protocol/generation.ts';
import { CHAT_MODEL } from '../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { expect, expectIdle, test as base, type ServedTab } from './bridge-test.ts';
import { loadModel } from './hub-test.ts';
import { DEFAULT_KNOBS } from './tab.ts';

export { expect };

interface ChatFixtures {
  /** The model of `chat`. */
  readonly chatModel: string;
  /** The tab's knobs are at their defaults; the test must leave it idle and without errors. */
  readonly chat: ServedTab;
}

export const test = base.extend<ChatFixtures>({
  chatModel: [CHAT_MODEL, { option: true }],

  chat: async ({ sharedChat, chatModel }, provide) => {
    const { tab } = sharedChat;
    if ((await tab.status()).model?.id !== chatModel)
      expect(await loadModel(tab, chatModel, {})).toMatchObject({ value: { state: 'ready' } });
    await tab.configure(DEFAULT_KNOBS);
    await provide(sharedChat);
    await expectIdle(tab);
    expect(tab.errors, 'errors on the console').toEqual([]);
  },
});

export const system = { role: 'system', content: 'Be brief.' } as const;
export const hello = { role: 'user', content: 'Hello' } as const;
export const MESSAGES = [system, hello];

export async function inPage(
  { tab }: ServedTab,
  options: GenerationOptions,
  messages: readonly object[] = MESSAGES,
): Promise<GenerationResult> {
  const [outcome] = await tab.outcomesOf([{ prompt: messages, options }]);
  if (!outcome?.value) throw new Error(`The page did not answer: ${outcome?.message}`);
  return outcome.value;
}

/** Repeats a text that isn't the likeliest one. */
export const SAMPLED = { temperature: 0.9, seed: 11 };
