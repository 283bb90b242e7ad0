import type { Page } from 'playwright';

import { encode, film } from './film.ts';
import { boxesOf, openChats, type Stage } from './scene.ts';

/** Of each of two tabs, which stand side by side. */
const VIEWPORT = { width: 1100, height: 1375 };
const FORMAT = { numPlaces: 2, width: 1600, height: 1000, seconds: 10, bitsPerSecond: 1_300_000 };
/** When the first tab is closed. */
const CLOSED_AFTER_SECONDS = 3;
/** The other tab loads 135 M parameters while it is filmed: most of that is shown faster. */
const WAIT = { afterClosingSeconds: 1, lasts: 2, caption: 'The other tab loads the model' };

/** Questions with long answers, for each tab. */
const QUESTIONS = [
  ['Write a story about a lighthouse.', 'Why is the sky blue?', 'How do I bake bread?'],
  ['Write a story about a robot.', 'How does a computer work?', 'Tell me about Rome.'],
] as const;

/** Films two tabs that chat with one SmolLM2. The one that runs it is closed, and the other's answers go on. */
export async function* recordFilm(stage: Stage): AsyncGenerator<readonly [name: string, file: Buffer]> {
  const context = await stage.browser.newContext({ viewport: VIEWPORT, colorScheme: 'light' });
  try {
    const leader = await openChats(context, stage, QUESTIONS[0]);
    const follower = await openChats(context, stage, QUESTIONS[1]);
    const stop = await film([leader, follower]);
    const startMs = performance.now();
    const at = (seconds: number): Promise<void> =>
      follower.waitForTimeout(Math.max(0, startMs + seconds * 1000 - performance.now()));
    await at(0.5);
    await askEach(leader);
    await at(1);
    await askEach(follower);
    await at(CLOSED_AFTER_SECONDS);
    await leader.close();
    const fromSeconds = nowSeconds() + WAIT.afterClosingSeconds;
    await follower.getByText(/went on here/).waitFor({ timeout: 60_000 });
    const toSeconds = nowSeconds();
    await follower.waitForTimeout((FORMAT.seconds - CLOSED_AFTER_SECONDS - WAIT.lasts) * 1000);
    const frames = stop();
    // What is left to write would slow the encoder down.
    await follower.close();
    const fast = { fromSeconds, toSeconds, lasts: WAIT.lasts, caption: WAIT.caption };
    yield ['run.webm', await encode(await context.newPage(), frames, fast, FORMAT)];
  } finally {
    await context.close();
  }
}

const nowSeconds = (): number => Date.now() / 1000;

async function askEach(page: Page): Promise<void> {
  for (const box of await boxesOf(page).all()) await box.press('Enter');
}
