import type { Browser, Page } from 'playwright';

import { openReady } from '../open-ready.ts';
import { spreadOf, type Spread } from '../statistics.ts';
import { NUM_STREAMS, VIEWPORT } from './measure-streaming.ts';

declare global {
  interface Window {
    drawingLoad: {
      numTokens: number;
      readonly stop: () => Promise<void>;
    };
  }
}

/** Pairs of a period with the page in view and one with its root hidden, which draws nothing. */
export const NUM_PAIRS = 5;
const PERIOD_MS = 3000;
/** Tokens of a text: short ones come and go often, which costs the page the most. */
export const TEXT_LENGTH = 32;
/** The time to hide or show the root is not measured. */
const SETTLING_MS = 500;

/** Tokens per second with the page in view, divided by those with it hidden: 1 if drawing costs nothing. */
export async function measureDrawing(browser: Browser, url: string): Promise<Spread> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const { page } = await openReady(context, `${url}/?backend=wasm`);
    await page.evaluate(startLoad, { numStreams: NUM_STREAMS, maxNewTokens: TEXT_LENGTH });
    const ratios: number[] = [];
    await tokensPerSecond(page, false);
    for (let pair = 0; pair < NUM_PAIRS; pair += 1) {
      // The order alternates, so that a machine that slows down favors neither.
      const isHiddenFirst = pair % 2 === 1;
      const first = await tokensPerSecond(page, isHiddenFirst);
      const second = await tokensPerSecond(page, !isHiddenFirst);
      ratios.push(isHiddenFirst ? second / first : first / second);
    }
    await page.evaluate(() => window.drawingLoad.stop());
    return spreadOf(ratios);
  } finally {
    await context.close();
  }
}

interface Load {
  readonly numStreams: number;
  /** Of each text. */
  readonly maxNewTokens: number;
}

/** Runs in the page. Keeps `numStreams` requests running and counts their tokens. */
async function startLoad({ numStreams, maxNewTokens }: Load): Promise<void> {
  const { tabserve } = window;
  await tabserve.configure('text-generator', { maxBatchSize: numStreams });
  const generator = tabserve.getHandle('text-generator');
  const over = new AbortController();
  const repeat = async (stream: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1)
      await generator
        .remote('Once upon a time,', { maxNewTokens, ignoreEos: true, seed: stream * 1000 + round })
        .result();
  };
  const streams = Array.from({ length: numStreams }, (_, stream) => repeat(stream));
  window.drawingLoad = {
    numTokens: 0,
    async stop() {
      over.abort();
      await Promise.all(streams);
      unsubscribe();
    },
  };
  const unsubscribe = tabserve.subscribe('requests', (updates) => {
    for (const update of updates)
      if (update.type === 'chunk') window.drawingLoad.numTokens += update.tokenIds.length;
  });
}

function tokensPerSecond(page: Page, isHidden: boolean): Promise<number> {
  return page.evaluate(countTokens, { isHidden, settlingMs: SETTLING_MS, periodMs: PERIOD_MS });
}

interface Period {
  readonly isHidden: boolean;
  readonly settlingMs: number;
  readonly periodMs: number;
}

/** Runs in the page. Returns tokens per second. */
async function countTokens({ isHidden, settlingMs, periodMs }: Period): Promise<number> {
  const { drawingLoad } = window;
  const root = document.querySelector<HTMLElement>('#root');
  if (!root) throw new Error('The page has no root.');
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the page
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  root.style.display = isHidden ? 'none' : '';
  await pause(settlingMs);
  const [startMs, numBefore] = [performance.now(), drawingLoad.numTokens];
  await pause(periodMs);
  return (drawingLoad.numTokens - numBefore) / (performance.now() - startMs);
}
