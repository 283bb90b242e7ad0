import type { RequestId } from '../../protocol/ids.ts';
import type { StepRecord } from '../../protocol/stats.ts';
import { percentilesOf } from '../../batching/metrics/latency-window.ts';
import type { CheckedClient, CheckedOptions } from './checked-client.ts';
import type { CheckedBackend, CheckedRate } from './types.ts';

/** Sizes of batches. */
const NUM_TEXTS = [1, 4, 8, 16];
/** The size during which a long prompt comes. */
const PAUSED = 8;

/** Enough steps for a median, or what fits into this time. */
const ENOUGH_STEPS = 48;
const ENOUGH_MS = 1500;
/** A size that has not run by then doesn't run: memory holds fewer texts, or other tabs' texts run too. */
const MAX_MS = 10_000;
/** Steps are told every 100 ms, those of a fast text after its end. A busy page hears of them later. */
const TOLD_WITHIN_MS = 1000;

const PROMPT = 'Once upon a time,';
/** About 256 tokens. */
const LONG_PROMPT = 'and then '.repeat(128);
/** A margin for the prompt. Texts that end would leave the batch. */
const MAX_NEW_TOKENS = 200;

export type Speed = Pick<CheckedBackend, 'rates' | 'longestPauseMs'>;

interface Measuring {
  readonly serve: Pick<CheckedClient, 'getHandle' | 'subscribe'>;
  readonly signal: AbortSignal;
  readonly onRequest: (requestId: RequestId) => void;
  /** Called with each size when its turn comes. */
  readonly onSize: (numTexts: number) => void;
}

/** Measures how fast texts run, alone and together. Prompt lookup is off: it would measure the text. */
export async function measureSpeed(measuring: Measuring): Promise<Speed> {
  const rates: CheckedRate[] = [];
  let longestPauseMs: number | undefined;
  for (const numTexts of NUM_TEXTS) {
    measuring.onSize(numTexts);
    const steps = await stepsOf(numTexts, measuring);
    const tokensPerSecond = rateOf(steps, numTexts);
    if (tokensPerSecond !== undefined) rates.push({ numTexts, tokensPerSecond });
    if (numTexts === PAUSED) longestPauseMs = longestPauseIn(steps, numTexts);
  }
  return { rates, ...(longestPauseMs !== undefined && { longestPauseMs }) };
}

/** Tokens in a second, by the median of decode steps with exactly so many texts; undefined if there is none. */
export function rateOf(steps: readonly StepRecord[], numTexts: number): number | undefined {
  const wanted = steps.filter((step) => isDecode(step, numTexts)).map(({ stepMs }) => stepMs);
  const median = percentilesOf(wanted)?.p50;
  return median === undefined ? undefined : (1000 * numTexts) / median;
}

/** The longest time from one decode step's end to the next one's, with prompts read between them; undefined if none was read. */
export function longestPauseIn(steps: readonly StepRecord[], numTexts: number): number | undefined {
  let [longest, sinceDecode, hasRun] = [0, 0, false];
  for (const step of steps) {
    const isPrefill = step.kind === 'prefill';
    if (isPrefill) sinceDecode += step.stepMs;
    else {
      // Behind the first decode step, a prompt is read beside running texts.
      if (hasRun && sinceDecode > 0) longest = Math.max(longest, sinceDecode + step.stepMs);
      hasRun ||= step.batchSize >= numTexts;
      sinceDecode = 0;
    }
  }
  return longest === 0 ? undefined : longest;
}

function isDecode({ kind, batchSize, outcome }: StepRecord, numTexts: number): boolean {
  return kind === 'decode' && batchSize === numTexts && outcome === 'ok';
}

/** The steps of the worker while so many texts run. */
async function stepsOf(numTexts: number, measuring: Measuring): Promise<readonly StepRecord[]> {
  const { serve, signal } = measuring;
  const steps: StepRecord[] = [];
  const enough = new AbortController();
  const end = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(MAX_MS)]);
  const { promise: told, resolve: onTold } = Promise.withResolvers<void>();
  let [isRead, isOver] = [numTexts !== PAUSED, false];
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    await runAll([LONG_PROMPT], { maxNewTokens: 1, signal: end }, measuring);
    isRead = true;
  };
  const unsubscribe = serve.subscribe('stats', (stats) => {
    steps.push(...stats.steps);
    if (isOver) onTold();
    const own = steps.filter((step) => isDecode(step, numTexts));
    if (own.length > 0 && !isRead) reading ??= read();
    const ms = own.reduce((sum, { stepMs }) => sum + stepMs, 0);
    if (isRead && (own.length >= ENOUGH_STEPS || ms >= ENOUGH_MS)) enough.abort();
  });
  try {
    const prompts = Array.from({ length: numTexts }, () => PROMPT);
    await runAll(prompts, { maxNewTokens: MAX_NEW_TOKENS, signal: end }, measuring);
    isOver = true;
    if (!end.aborted) {
      setTimeout(onTold, TOLD_WITHIN_MS);
      await told;
    }
    await reading;
    signal.throwIfAborted();
    return steps;
  } finally {
    unsubscribe();
  }
}

/** Resolves when all have ended, well or not. */
async function runAll(
  prompts: readonly string[],
  options: CheckedOptions,
  { serve, onRequest }: Pick<Measuring, 'serve' | 'onRequest'>,
): Promise<void> {
  const all = { ...options, ignoreEos: true, temperature: 0, priority: 1 };
  const responses = serve.getHandle('text-generator').remoteAll(prompts, all);
  for (const { requestId } of responses) onRequest(requestId);
  await Promise.allSettled(responses.map((response) => response.result()));
}
