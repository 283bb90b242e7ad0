import type { GenerationResult } from '../../../src/protocol/generation.ts';
import type { BatchingPolicy } from '../../../src/protocol/status.ts';
import type { TabserveStats, StepRecord } from '../../../src/protocol/stats.ts';
import type { ScenarioRequest } from './scenarios.ts';

export interface Plan {
  readonly knobs: Partial<BatchingPolicy>;
  readonly requests: readonly ScenarioRequest[];
  /** Sends each ended request again for this long, so that the page draws meanwhile, as it does for users. */
  readonly leastMs: number;
}

/** One run of one scenario. */
export interface Measurement {
  /** From the first submission to the last result, on the page's clock. */
  readonly wallMs: number;
  readonly numOutputTokens: number;
  /** Tokens of the longest prompt. */
  readonly numPromptTokens: number;
  readonly ttftMs: readonly number[];
  readonly decodeSteps: readonly StepRecord[];
}

/** Runs in the page, whose engine must be idle. It is sent there as text, so it can't use anything outside of itself. */
export async function measureInPage({ knobs, requests, leastMs }: Plan): Promise<Measurement> {
  const { tabserve } = window;
  await tabserve.configure('text-generator', knobs);
  const steps: StepRecord[] = [];
  let onStats: ((stats: TabserveStats) => void) | undefined;
  const unsubscribe = tabserve.subscribe('stats', (stats) => {
    steps.push(...stats.steps);
    onStats?.(stats);
  });

  const generator = tabserve.getHandle('text-generator');
  const startedAtMs = performance.now();
  const repeat = async ({ prompt, options }: ScenarioRequest) => {
    const own: GenerationResult[] = [];
    do own.push(await generator.remote(prompt, options).result());
    while (performance.now() - startedAtMs < leastMs);
    return own;
  };
  const results = (await Promise.all(requests.map(repeat))).flat();
  const wallMs = performance.now() - startedAtMs;

  // The last steps are still to come: stats are collected before they are sent.
  await new Promise<TabserveStats>((resolve) => (onStats = resolve));
  unsubscribe();
  return {
    wallMs,
    numOutputTokens: results.reduce((total, { usage }) => total + usage.numOutputTokens, 0),
    numPromptTokens: Math.max(...results.map(({ usage }) => usage.numPromptTokens)),
    ttftMs: results.map(({ timings }) => timings.ttftMs),
    decodeSteps: steps.filter(({ kind }) => kind === 'decode'),
  };
}
