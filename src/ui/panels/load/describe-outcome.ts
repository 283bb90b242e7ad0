import { formatCount, formatMs, formatNumber } from '../../parts/format.ts';
import type { Mode } from './load-form.ts';
import type { LoadResults } from './load-session.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import type { Trial } from './summarize.ts';

interface Outcome {
  readonly title: string;
  readonly detail: string;
}

/** The main result of a comparison. Undefined until all of it has run. */
export function describeFinding(trials: readonly Pick<Trial, 'label' | 'summary'>[]): Outcome | undefined {
  const [off, ...others] = trials;
  if (!off || trials.length < POLICY_NAMES.length) return undefined;
  const base = off.summary.tokensPerSecond;
  if (base === 0) return { title: `No request finished under ${off.label}.`, detail: '' };
  const [best = off] = others.toSorted((a, b) => b.summary.tokensPerSecond - a.summary.tokensPerSecond);
  const ratio = best.summary.tokensPerSecond / base;
  if (ratio < 1.05) return { title: `Batching makes no more tokens/s than ${off.label} here.`, detail: '' };
  const [before, after] = [off.summary.e2eMs?.p95, best.summary.e2eMs?.p95];
  const isFaster = before !== undefined && after !== undefined && after < before / 1.05;
  return {
    title: `${best.label} makes ${ratio.toFixed(1)}× the tokens/s of ${off.label}.`,
    detail: isFaster ? `End to end p95 falls from ${formatMs(before)} to ${formatMs(after)}.` : '',
  };
}

/** The result of a test that is over. */
export function describeOutcome({ mode, trials }: Pick<LoadResults, 'mode' | 'trials'>): Outcome {
  if (trials.length === 0) return { title: 'Stopped before the first run ended.', detail: '' };
  return DESCRIBERS[mode](trials);
}

const DESCRIBERS: Readonly<Record<Mode, (trials: readonly Trial[]) => Outcome>> = {
  run: describeRun,
  sweep: describeSweep,
  compare: (trials) => describeFinding(trials) ?? { title: 'Stopped before all runs had ended.', detail: '' },
};

function describeRun([trial]: readonly Trial[]): Outcome {
  if (!trial) return { title: '', detail: '' };
  const { numFinished, numSent, durationMs } = trial.summary;
  const { policy, maxBatchSize } = trial.policy;
  return {
    title: policy
      ? `Measured under ${policy}.`
      : `Measured in batches of at most ${formatCount(maxBatchSize)} tokens.`,
    detail: `${formatCount(numFinished)} of ${formatCount(numSent)} requests finished in ${formatMs(durationMs)}.`,
  };
}

function describeSweep(trials: readonly Trial[]): Outcome {
  const [first] = trials;
  if (!first) return { title: '', detail: '' };
  const best = trials.reduce((most, trial) =>
    trial.summary.tokensPerSecond > most.summary.tokensPerSecond ? trial : most,
  );
  const [before, after] = [first.summary.e2eMs?.p95, best.summary.e2eMs?.p95];
  return {
    title: `Best throughput at ${best.label}: ${formatNumber(best.summary.tokensPerSecond)} tokens/s.`,
    detail: `End to end p95 is ${formatMs(before)} at ${first.label} and ${formatMs(after)} at ${best.label}.`,
  };
}
