import type { PolicyTrial } from '../trials/policy-multiples.tsx';
import { formatMs, formatNumber, NO_VALUE } from '../../parts/format.ts';
import { TEXT_GENERATOR } from '../../../client/index.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import type { LoadedDeployment } from './load-target.ts';
import type { LoadSummary, Trial } from './summarize.ts';

type Measure = readonly [
  name: string,
  color: `--${string}`,
  valueOf: (summary: LoadSummary) => number | undefined,
  format: (value: number | undefined) => string,
];

const MEASURES: readonly Measure[] = [
  ['Tokens/s', '--series-decode', ({ tokensPerSecond }) => tokensPerSecond, formatNumber],
  ['Goodput/s', '--good', ({ goodputPerSecond }) => goodputPerSecond, formatNumber],
  ['TTFT p50', '--series-ttft', ({ ttftMs }) => ttftMs?.p50, formatMs],
  ['TTFT p95', '--series-ttft', ({ ttftMs }) => ttftMs?.p95, formatMs],
  ['E2E p95', '--series-e2e', ({ e2eMs }) => e2eMs?.p95, formatMs],
];

type MeasuredTrial = Pick<Trial, 'label' | 'summary' | 'slots'>;

/** A column for each policy, also for those that haven't run yet. */
export function multiplesOf(trials: readonly MeasuredTrial[]): readonly PolicyTrial[] {
  const figuresOf = (index: number): PolicyTrial['figures'] =>
    MEASURES.map(([name, color, valueOf, format]) => {
      const values = trials.map(({ summary }) => valueOf(summary));
      const longest = Math.max(0, ...values.map((value) => value ?? 0));
      return {
        name,
        color,
        value: format(values[index]),
        ratio: formatRatio(values[index], values[0]),
        share: longest > 0 ? (values[index] ?? 0) / longest : 0,
      };
    });
  return POLICY_NAMES.map((label, index) => ({
    ...timelineOf(trials[index]),
    label,
    figures: figuresOf(index),
  }));
}

/** The one column of a run, with more figures. */
export function multipleOfRun(trial: MeasuredTrial, deployment: LoadedDeployment): PolicyTrial {
  const { requestsPerSecond, queueWaitMs, numFinished, numSent } = trial.summary;
  // An embedder has no first token.
  const measures = MEASURES.filter(([name]) => deployment === TEXT_GENERATOR || !name.startsWith('TTFT'));
  const figures = measures.map(([name, , valueOf, format]) => ({
    name,
    value: format(valueOf(trial.summary)),
  }));
  return {
    ...timelineOf(trial),
    label: trial.label,
    figures: [
      ...figures,
      ...(queueWaitMs ? [{ name: 'Queue wait p95', value: formatMs(queueWaitMs.p95) }] : []),
      { name: 'Requests/s', value: formatNumber(requestsPerSecond) },
      { name: 'Finished', value: `${numFinished} of ${numSent}` },
    ],
  };
}

function timelineOf(trial: MeasuredTrial | undefined) {
  const { startedAtMs, requestIds, bars } = trial?.slots ?? { startedAtMs: 0, requestIds: [], bars: [] };
  return { startedAtMs, requestIds, bars, durationMs: trial?.summary.durationMs ?? 0 };
}

export function titleOfGoodput(latencyLimitMs: number): string {
  return `Goodput/s within ${formatMs(latencyLimitMs)}`;
}

export function formatRatio(value: number | undefined, base: number | undefined): string {
  return value === undefined || !base ? NO_VALUE : `${(value / base).toFixed(2)}×`;
}
