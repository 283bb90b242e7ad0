import type { Page } from 'playwright';

import type { Samples } from '../bench-case.ts';

export const NUM_STREAMS = 16;

/** Timestamps of frames jitter by this much on an idle page. */
const SLACK_MS = 4;

interface Use {
  readonly ms: number;
  readonly numStreams: number;
  /** A longer interval makes a frame late. */
  readonly frameMs: number;
  /** Hides the page's root, so that nothing is drawn. */
  readonly isHidden: boolean;
}

/** Keeps requests streaming and returns the values of the columns: of the page's own thread, and the model's rate meanwhile. */
export function playInView(page: Page, ms: number, isHidden = false): Promise<Samples> {
  const use: Use = { ms, numStreams: NUM_STREAMS, frameMs: 1000 / 60 + SLACK_MS, isHidden };
  return page.evaluate(streamInPage, use);
}

/** Runs in the page. It is sent there as text, so it can't use anything outside of itself. */
async function streamInPage({ ms, numStreams, frameMs, isHidden }: Use): Promise<Record<string, number>> {
  /** The time to hide or show the root, and to fill the batch, is not measured. */
  const settlingMs = 500;
  const { tabserve } = window;
  const root = document.querySelector<HTMLElement>('#root');
  if (!root) throw new Error('The page has no root.');
  root.style.display = isHidden ? 'none' : '';
  await tabserve.configure('text-generator', { maxBatchSize: numStreams });
  const generator = tabserve.getHandle('text-generator');
  const over = new AbortController();
  let [numTokens, numTasks] = [0, 0];
  const unsubscribe = tabserve.subscribe('requests', (updates) => {
    for (const update of updates) if (update.type === 'chunk') numTokens += update.tokenIds.length;
  });
  // Short texts come and go often, which costs the page the most.
  const repeat = async (user: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn += 1)
      await generator
        .remote('Once upon a time,', { maxNewTokens: 32, ignoreEos: true, seed: user * 1000 + turn })
        .result();
  };
  const streams = Array.from({ length: numStreams }, (_, user) => repeat(user));
  await new Promise((resolve) => setTimeout(resolve, settlingMs));

  const observer = new PerformanceObserver((list) => void (numTasks += list.getEntries().length));
  observer.observe({ type: 'longtask' });
  const startMs = performance.now();
  let [numOnTime, longestMs, lastMs] = [0, 0, startMs];
  const frame = (nowMs: number): void => {
    const intervalMs = nowMs - lastMs;
    if (intervalMs <= frameMs) numOnTime += 1;
    longestMs = Math.max(longestMs, intervalMs);
    lastMs = nowMs;
    if (!over.signal.aborted) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  numTokens = 0;
  await new Promise((resolve) => setTimeout(resolve, ms));
  const seconds = (performance.now() - startMs) / 1000;
  const rate = numTokens / seconds;
  over.abort();
  observer.disconnect();
  await Promise.all(streams);
  unsubscribe();
  root.style.display = '';
  return {
    'tokens/s': rate,
    'frames on time': Math.min(1, numOnTime / (seconds * 60)),
    'longest without a frame': longestMs,
    'tasks over 50 ms': numTasks,
  };
}
