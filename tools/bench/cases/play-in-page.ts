import type { Page } from 'playwright';

import type { GenerationOptions } from '../../../src/protocol/generation.ts';
import type { StepRecord } from '../../../src/protocol/stats.ts';
import type { BatchingPolicy } from '../../../src/protocol/status.ts';
import type { Samples } from '../bench-case.ts';
import { medianOf, sum } from '../statistics.ts';

export interface PageRequest {
  readonly prompt: string;
  readonly options: GenerationOptions;
}

export interface Play {
  readonly knobs: Partial<BatchingPolicy>;
  readonly requests: readonly PageRequest[];
  /** Sends each ended request again for this long, so that the page draws meanwhile, as it does for users. */
  readonly leastMs: number;
  /** Sent at once when a request has this many tokens. */
  readonly late?: { readonly afterTokens: number; readonly requests: readonly PageRequest[] };
}

interface PlayedRequest {
  readonly numOutputTokens: number;
  /** On the worker's clock, from receipt. */
  readonly ttftMs: number;
  /** When tokens came, on the page's clock. */
  readonly chunks: readonly { readonly atMs: number; readonly numTokens: number }[];
}

interface Played {
  /** From the first request to the last answer, on the page's clock. */
  readonly wallMs: number;
  readonly requests: readonly PlayedRequest[];
  readonly steps: readonly StepRecord[];
}

/** Plays requests in a page whose engine is idle, and returns the values of all columns of the engine's tables. */
export async function play(page: Page, plan: Play): Promise<Samples> {
  const { wallMs, requests, steps } = await page.evaluate(playInPage, plan);
  const decodes = steps.filter(({ kind }) => kind === 'decode');
  const wholeBatch = Math.max(...decodes.map(({ batchSize }) => batchSize));
  const gap = longestGapOf(steps);
  return {
    'tokens/s': (1000 * sum(requests.map(({ numOutputTokens }) => numOutputTokens))) / wallMs,
    TTFT: requests.map(({ ttftMs }) => ttftMs),
    'between tokens': requests.flatMap(tokenGapsOf),
    'decode step': decodes.filter(({ batchSize }) => batchSize === wholeBatch).map(({ stepMs }) => stepMs),
    overhead: sum(decodes.map(outsideRun)) / sum(decodes.map(({ stepMs }) => stepMs)),
    'longest pause': gap.gapMs,
    'in steps': gap.inSteps,
  };
}

/** A step behind another is launched while the device is busy, so the CPU's time costs nothing. */
function outsideRun({ isBehind, stepMs, runMs, readbackMs }: StepRecord): number {
  return isBehind ? 0 : stepMs - runMs - readbackMs;
}

/** One value per token but the first: tokens that came together share the time since those before them. */
function tokenGapsOf({ chunks }: PlayedRequest): readonly number[] {
  return chunks.slice(1).flatMap(({ atMs, numTokens }, index) => {
    const gapMs = (atMs - (chunks[index]?.atMs ?? 0)) / numTokens;
    return Array.from({ length: numTokens }, () => gapMs);
  });
}

/** The longest time from one decode step to the next, by itself and in decode steps of as many sequences. */
export function longestGapOf(steps: readonly StepRecord[]): {
  readonly gapMs: number;
  readonly inSteps: number;
} {
  let longest = { gapMs: 0, inSteps: 0 };
  let prefillMs: number | undefined;
  for (const { kind, stepMs, batchSize } of steps) {
    if (kind === 'prefill') {
      if (prefillMs !== undefined) prefillMs += stepMs;
      continue;
    }
    const gapMs = (prefillMs ?? 0) + stepMs;
    const alike = steps.filter((step) => step.kind === 'decode' && step.batchSize === batchSize);
    const inSteps = gapMs / medianOf(alike.map((step) => step.stepMs));
    if (inSteps > longest.inSteps) longest = { gapMs, inSteps };
    prefillMs = 0;
  }
  return longest;
}

/** Runs in the page. It is sent there as text, so it can't use anything outside of itself. */
async function playInPage({ knobs, requests, leastMs, late }: Play): Promise<Played> {
  const { tabserve } = window;
  await tabserve.configure('text-generator', knobs);
  const generator = tabserve.getHandle('text-generator');
  const steps: StepRecord[] = [];
  const idle = Promise.withResolvers<void>();
  let isOver = false;
  const unsubscribe = tabserve.subscribe('stats', (stats) => {
    steps.push(...stats.steps);
    if (isOver && stats.numRunning === 0) idle.resolve();
  });
  const lateTime = Promise.withResolvers<void>();
  const startedAtMs = performance.now();

  const send = async ({ prompt, options }: PageRequest): Promise<PlayedRequest> => {
    const response = generator.remote(prompt, options);
    const chunks: { atMs: number; numTokens: number }[] = [];
    let numSeen = 0;
    for await (const { tokenIds } of response) {
      if (tokenIds.length === 0) continue;
      chunks.push({ atMs: performance.now() - startedAtMs, numTokens: tokenIds.length });
      numSeen += tokenIds.length;
      if (late && numSeen >= late.afterTokens) lateTime.resolve();
    }
    const { timings, usage } = await response.result();
    return { numOutputTokens: usage.numOutputTokens, ttftMs: timings.ttftMs, chunks };
  };
  const repeat = async (request: PageRequest): Promise<PlayedRequest[]> => {
    const own = [];
    do own.push(await send(request));
    while (performance.now() - startedAtMs < leastMs);
    return own;
  };

  const first = Promise.all(requests.map(repeat));
  if (late) await lateTime.promise;
  const second = Promise.all((late?.requests ?? []).map(repeat));
  const played = [...(await first), ...(await second)].flat();
  const wallMs = performance.now() - startedAtMs;
  isOver = true;
  // The last steps are still to come: stats are collected before they are sent.
  await idle.promise;
  unsubscribe();
  return { wallMs, requests: played, steps };
}
