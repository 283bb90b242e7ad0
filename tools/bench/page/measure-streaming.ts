import type { Browser } from 'playwright';

import { openReady } from '../open-ready.ts';

/** Load of the page's own thread while requests stream, with the first screen in view. */
export interface StreamingFigures {
  /** Share of the frames of a 60 Hz display that came at most `SLACK_MS` late. */
  readonly onTimeShare: number;
  readonly longestFrameMs: number;
  readonly longTasksMs: readonly number[];
  readonly stepsPerSecond: number;
}

export const NUM_STREAMS = 16;
export const STREAMING_SECONDS = 30;
/** Timestamps of frames jitter by this much on an idle page. */
export const SLACK_MS = 4;

/** The first screen: charts, slots and texts of a run. */
export const VIEWPORT = { width: 1280, height: 800 };

export async function measureStreaming(browser: Browser, url: string): Promise<StreamingFigures> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const { page } = await openReady(context, `${url}/?backend=wasm`);
    return await page.evaluate(stream, {
      numStreams: NUM_STREAMS,
      seconds: STREAMING_SECONDS,
      frameMs: 1000 / 60 + SLACK_MS,
    });
  } finally {
    await context.close();
  }
}

interface StreamOptions {
  readonly numStreams: number;
  readonly seconds: number;
  /** A longer interval makes a frame late. */
  readonly frameMs: number;
}

/** Runs in the page. */
async function stream({ numStreams, seconds, frameMs }: StreamOptions): Promise<StreamingFigures> {
  const { tabserve } = window;
  await tabserve.configure('text-generator', { maxBatchSize: numStreams });
  const generator = tabserve.getHandle('text-generator');
  let numSteps = 0;
  const unsubscribe = tabserve.subscribe('stats', ({ steps }) => {
    numSteps += steps.length;
  });
  const longTasksMs: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasksMs.push(duration);
  });
  observer.observe({ type: 'longtask' });

  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  let [numOnTime, longestFrameMs, lastMs] = [0, 0, startMs];
  const frame = (nowMs: number): void => {
    const intervalMs = nowMs - lastMs;
    if (intervalMs <= frameMs) numOnTime += 1;
    longestFrameMs = Math.max(longestFrameMs, intervalMs);
    lastMs = nowMs;
    if (nowMs < endMs) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const use = async (user: number): Promise<void> => {
    for (let turn = 0; performance.now() < endMs; turn += 1)
      await generator.remote('Once upon a time,', { maxNewTokens: 120, seed: user * 1000 + turn }).result();
  };
  await Promise.all(Array.from({ length: numStreams }, (_, user) => use(user)));
  observer.disconnect();
  unsubscribe();
  const onTimeShare = Math.min(1, numOnTime / (seconds * 60));
  return { onTimeShare, longestFrameMs, longTasksMs, stepsPerSecond: numSteps / seconds };
}
