import type { Browser } from 'playwright';

import { spreadOf } from '../statistics.ts';
import type { Spread } from '../engine/results.ts';
import { NUM_STREAMS, VIEWPORT } from './measure-streaming.ts';

/** Pairs of a period with the page in view and one with its root hidden, which draws nothing. */
export const NUM_PAIRS = 5;
const PERIOD_SECONDS = 3;

/** Tokens per second with the page hidden, divided by those with it in view: 1 if drawing costs nothing. */
export async function measureDrawing(browser: Browser, url: string): Promise<Spread> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const page = await context.newPage();
    await page.goto(`${url}/?backend=wasm`);
    await page.waitForFunction(() => window.tabserve?.status().state === 'ready');
    const options = { numStreams: NUM_STREAMS, numPairs: NUM_PAIRS, periodMs: PERIOD_SECONDS * 1000 };
    return spreadOf(await page.evaluate(compareDrawing, options));
  } finally {
    await context.close();
  }
}

interface DrawingOptions {
  readonly numStreams: number;
  readonly numPairs: number;
  readonly periodMs: number;
}

/** Runs in the page. Returns the ratio of each pair. */
async function compareDrawing({ numStreams, numPairs, periodMs }: DrawingOptions): Promise<number[]> {
  const { tabserve } = window;
  const root = document.querySelector<HTMLElement>('#root');
  if (!tabserve || !root) throw new Error('The page has no client.');
  await tabserve.configure('text-generator', { maxBatchSize: numStreams });
  const generator = tabserve.getHandle('text-generator');
  let numTokens = 0;
  const unsubscribe = tabserve.subscribe('requests', (updates) => {
    for (const update of updates) if (update.type === 'chunk') numTokens += update.tokenIds.length;
  });
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the page
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  const tokensPerSecond = async (isHidden: boolean): Promise<number> => {
    root.style.display = isHidden ? 'none' : '';
    // The time to hide or show the root is not measured.
    await pause(500);
    const [startMs, numBefore] = [performance.now(), numTokens];
    await pause(periodMs);
    return (numTokens - numBefore) / (performance.now() - startMs);
  };
  const over = new AbortController();
  const use = async (user: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1)
      await generator.remote('Once upon a time,', { maxNewTokens: 120, seed: user * 1000 + turn }).result();
  };
  const users = Array.from({ length: numStreams }, (_, user) => use(user));
  const ratios: number[] = [];
  await tokensPerSecond(false);
  for (let pair = 0; pair < numPairs; pair += 1) {
    // The order alternates, so that a machine that slows down favors neither.
    const isHiddenFirst = pair % 2 === 1;
    const first = await tokensPerSecond(isHiddenFirst);
    const second = await tokensPerSecond(!isHiddenFirst);
    ratios.push(isHiddenFirst ? first / second : second / first);
  }
  over.abort();
  await Promise.all(users);
  unsubscribe();
  return ratios;
}
