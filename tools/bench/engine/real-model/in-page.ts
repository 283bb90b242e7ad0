import type { BatchingPolicy } from '../../../../src/protocol/status.ts';
import type { StepRecord } from '../../../../src/protocol/stats.ts';
import type { ScenarioRequest } from '../scenarios.ts';

export interface Play {
  readonly knobs: Partial<BatchingPolicy>;
  /** Sent at once. */
  readonly requests: readonly ScenarioRequest[];
  /** Sent at once when the first request has this many tokens. */
  readonly late?: { readonly afterTokens: number; readonly requests: readonly ScenarioRequest[] };
}

/** What came of one request, on the page's clock. */
export interface PlayedRequest {
  readonly numPromptTokens: number;
  /** On the worker's clock, from receipt. */
  readonly ttftMs: number;
  readonly chunks: readonly { readonly atMs: number; readonly numTokens: number }[];
}

export interface Played {
  /** From the first request to the last answer. */
  readonly wallMs: number;
  /** In order of sending. */
  readonly requests: readonly PlayedRequest[];
  readonly steps: readonly StepRecord[];
}

/** Runs in the page, sent there as text. The engine must be idle. */
export async function playInPage({ knobs, requests, late }: Play): Promise<Played> {
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
  const startedAtMs = performance.now();
  const { promise: lateTime, resolve: beginLate } = Promise.withResolvers<void>();
  const send = async ({ prompt, options }: ScenarioRequest): Promise<PlayedRequest> => {
    const response = generator.remote(prompt, options);
    const chunks: { atMs: number; numTokens: number }[] = [];
    let numSeen = 0;
    for await (const { tokenIds } of response) {
      if (tokenIds.length === 0) continue;
      chunks.push({ atMs: performance.now() - startedAtMs, numTokens: tokenIds.length });
      numSeen += tokenIds.length;
      if (late && numSeen >= late.afterTokens) beginLate();
    }
    const { timings, usage } = await response.result();
    return { numPromptTokens: usage.numPromptTokens, ttftMs: timings.ttftMs, chunks };
  };
  const first = Promise.all(requests.map(send));
  if (late) await lateTime;
  const second = Promise.all((late?.requests ?? []).map(send));
  const played = [...(await first), ...(await second)];
  const wallMs = performance.now() - startedAtMs;
  isOver = true;
  // The last steps are still to come: stats are collected before they are sent.
  await idle.promise;
  unsubscribe();
  return { wallMs, requests: played, steps };
}
