import type { GenerationOptions, GenerationResult } from '../../src/protocol/generation.ts';
import {
  CHAT_MODEL,
  chatCheckpoint,
  TOOL_MODEL,
  toolCheckpoint,
} from '../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { createRepository } from '../../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../../tools/hub-server/hub-server.ts';
import { expectIdle, withServedTab, type ServedTab } from './bridge-test.ts';
import { loadModel } from './hub-test.ts';
import { DEFAULT_KNOBS } from './tab.ts';
import { expect, test as base } from './test.ts';

export { expect };

interface ChatWorkerFixtures {
  readonly chatModel: string;
  readonly sharedChat: ServedTab;
}

interface ChatFixtures {
  /** The tab's knobs are at their defaults; the test must leave it idle and without errors. */
  readonly chat: ServedTab;
}

export const test = base.extend<ChatFixtures, ChatWorkerFixtures>({
  chatModel: [CHAT_MODEL, { scope: 'worker', option: true }],

  sharedChat: [
    async ({ browser, backend, chatModel }, provide) => {
      await using hub = await startHubServer([
        createRepository(CHAT_MODEL, chatCheckpoint()),
        createRepository(TOOL_MODEL, toolCheckpoint()),
      ]);
      await withServedTab(browser, backend, [hub.url], async (served) => {
        const { message } = await loadModel(served.tab, chatModel, {});
        expect(message, 'what keeps the model from loading').toBeUndefined();
        await provide(served);
      });
    },
    { scope: 'worker', timeout: 300_000 },
  ],

  chat: async ({ sharedChat }, provide) => {
    const { tab } = sharedChat;
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
