import { formatMs, formatNumber } from '../parts/format.ts';
import { goodputsOf, isMeasurable, p95sOf } from './suggest-knobs.ts';
import type { Candidate, Ranking, Suggestion } from './suggest-knobs.ts';

export function describeSuggestion({ sizes, waits, isStopped }: Suggestion, latencyLimitMs: number) {
  if (!isMeasurable(sizes) && !isStopped) {
    return { title: 'No measurable difference', reasons: describeTie(sizes) };
  }
  const best = waits?.best ?? sizes.best;
  const { maxBatchSize, batchWaitTimeoutMs, policy } = best.policy;
  return {
    title: `${isStopped ? 'Best so far: max' : 'Max'} batch size ${maxBatchSize}, batch wait timeout ${batchWaitTimeoutMs} ms`,
    reasons: [
      describeLimit(best, policy, latencyLimitMs),
      describeRounds(best),
      describeRest(sizes, 'Batch size', sizeOf),
      ...(waits ? [describeRest(waits, 'A wait of', waitOf)] : []),
      ...(isStopped ? ['The search was stopped before its rounds were over.'] : []),
    ],
  };
}

/** For settings that differ by less than the rounds of one of them. */
function describeTie({ candidates, best }: Ranking): readonly string[] {
  const medians = rangeOf(
    candidates.map(({ summary }) => summary.goodputPerSecond),
    formatNumber,
  );
  const [widest = best] = candidates.toSorted((a, b) => widthOf(b) - widthOf(a));
  return [
    `Batch sizes ${listOf(candidates, sizeOf)}: medians of ${medians} requests/s in time.`,
    `Batch size ${sizeOf(widest)} alone: ${describeRounds(widest)}`,
    'Longer runs or a heavier load may tell them apart.',
  ];
}

function widthOf(candidate: Candidate): number {
  const goodputs = goodputsOf(candidate);
  return Math.max(...goodputs) - Math.min(...goodputs);
}

function describeLimit({ summary }: Candidate, policy: string | undefined, latencyLimitMs: number): string {
  const limit = formatMs(latencyLimitMs);
  const p95 = summary.e2eMs?.p95 ?? Infinity;
  const subject = policy === undefined ? 'This' : `Under ${policy}, this`;
  return p95 <= latencyLimitMs
    ? `${subject} serves the most requests within ${limit}.`
    : `${subject} comes closest to ${limit} for 95 % of the requests.`;
}

/** `41.2 requests/s in time (39.8 to 42.3 in 5 rounds), p95 640 ms (600 ms to 700 ms).` */
function describeRounds(candidate: Candidate): string {
  const { rounds, summary } = candidate;
  const goodputs = rangeOf(goodputsOf(candidate), formatNumber);
  const p95s = rangeOf(p95sOf(candidate), formatMs);
  const goodput = `${formatNumber(summary.goodputPerSecond)} requests/s in time`;
  return `${goodput} (${goodputs} in ${rounds.length} ${rounds.length === 1 ? 'round' : 'rounds'}), p95 ${formatMs(summary.e2eMs?.p95)} (${p95s}).`;
}

/** The settings that are as good as the best, and the best of those that are measurably worse. */
function describeRest(
  { best, contenders, candidates }: Ranking,
  what: string,
  nameOf: (candidate: Candidate) => string,
): string {
  const equals = contenders.filter((candidate) => candidate !== best);
  const worse = candidates.filter((candidate) => !contenders.includes(candidate));
  const [next] = worse.toSorted((a, b) => b.summary.goodputPerSecond - a.summary.goodputPerSecond);
  const tie = equals.length > 0 ? [`${what} ${listOf(equals, nameOf)}: no measurable difference.`] : [];
  const loss = next
    ? [
        `${what} ${nameOf(next)}: ${formatNumber(next.summary.goodputPerSecond)} requests/s in time, p95 ${formatMs(next.summary.e2eMs?.p95)}.`,
      ]
    : [];
  return [...tie, ...loss].join(' ');
}

function sizeOf({ policy }: Candidate): string {
  return String(policy.maxBatchSize);
}

function waitOf({ policy }: Candidate): string {
  return `${policy.batchWaitTimeoutMs} ms`;
}

const LIST = new Intl.ListFormat('en', { type: 'conjunction' });

function listOf(candidates: readonly Candidate[], nameOf: (candidate: Candidate) => string): string {
  return LIST.format(candidates.map(nameOf));
}

function rangeOf(values: readonly number[], format: (value: number) => string): string {
  return `${format(Math.min(...values))} to ${format(Math.max(...values))}`;
}
