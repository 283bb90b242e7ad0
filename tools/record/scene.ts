import type { Browser, BrowserContext, Locator, Page } from 'playwright';

import { openReady } from '../bench/open-ready.ts';
import { loadSmollm2 } from '../bench/smollm2.ts';

/** Where scenes are played. */
export interface Stage {
  readonly browser: Browser;
  /** Of the page. */
  readonly url: string;
  /** Address of a hub with SmolLM2. */
  readonly hub: string;
}

/** Opens the page in a tab of its own, with its model ready. @param address Its parameters and fragment. */
export async function openTab(context: BrowserContext, { url }: Stage, address = ''): Promise<Page> {
  const { page } = await openReady(context, `${url}/?backend=wasm${address}`);
  return page;
}

/** Opens a chat of SmolLM2 for each question, which is typed but not sent. The first tab loads the model for all. */
export async function openChats(
  context: BrowserContext,
  stage: Stage,
  questions: readonly string[],
): Promise<Page> {
  const page = await openTab(context, stage, '&view=chat#seed=7');
  await loadSmollm2(page, stage.hub, 'q8');
  while ((await boxesOf(page).count()) < questions.length)
    await page.getByRole('button', { name: 'New chat' }).click();
  for (const [index, question] of questions.entries()) await boxesOf(page).nth(index).fill(question);
  return page;
}

/** The boxes of the chats, from left to right. */
export function boxesOf(page: Page): Locator {
  return page.getByRole('textbox', { name: /^Message to Chat \d/ });
}
