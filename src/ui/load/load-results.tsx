import { useState } from 'react';

import type { WireError } from '../../worker/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { formatCount, formatEachMs, formatMs, formatNumber, NO_VALUE } from '../format.ts';
import { saveJson } from '../share/save-file.ts';
import { configurePolicy } from '../state/connect-store.ts';
import { useServe } from '../state/serve-context.ts';
import { toWireError } from '../state/to-wire-error.ts';
import { CompareChart } from './compare-chart.tsx';
import { formatRatio, titleOfGoodput } from './compare-measures.ts';
import { suggest } from './experiments.ts';
import type { Trial } from './experiments.ts';
import { exportLoad } from './export-load.ts';
import { LatencyCurve } from './latency-curve.tsx';
import type { LoadResults } from './load-session.ts';
import type { LoadSummary, Percentiles } from './summarize.ts';

interface LoadResultsProps {
  readonly results: LoadResults;
  readonly isRunning: boolean;
}

/** Every run in one table; what is compared, against the first of them. */
export function LoadResultsView({ results, isRunning }: LoadResultsProps) {
  const { store } = useServe();
  const { mode, trials, latencyLimitMs } = results;
  if (trials.length === 0) return null;

  const save = (): void => {
    saveJson('tabserve-load.json', exportLoad(results, store.getState().status));
  };

  return (
    <div className="load-results">
      <h3>Results</h3>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard */}
      <section className="load-scroll" tabIndex={0} aria-label="Table of results">
        <table data-testid="load-results" aria-label="Results">
          <thead>
            <tr>
              <th scope="col">{mode === 'suggest' ? 'Batch size / wait' : 'Run'}</th>
              <th scope="col">Tokens/s</th>
              {mode === 'compare' && <th scope="col">× off</th>}
              <th scope="col">Requests/s</th>
              <th scope="col">{titleOfGoodput(latencyLimitMs)}</th>
              <th scope="col">Finished</th>
              <th scope="col">Rejected</th>
              <th scope="col">TTFT p50 / p95 / p99</th>
              <th scope="col">TPOT p50 / p95 / p99</th>
              <th scope="col">Queue wait p50 / p95 / p99</th>
              <th scope="col">End to end p50 / p95 / p99</th>
              <th scope="col">Duration</th>
            </tr>
          </thead>
          <tbody>
            {trials.map((trial) => (
              <ResultRow key={trial.label} trial={trial} trials={trials} mode={mode} />
            ))}
          </tbody>
        </table>
      </section>
      {mode === 'compare' && trials.length > 1 && (
        <CompareChart trials={trials} latencyLimitMs={latencyLimitMs} />
      )}
      {(mode === 'sweep' || mode === 'suggest') && trials.length > 1 && (
        <LatencyCurve trials={trials} latencyLimitMs={latencyLimitMs} />
      )}
      {mode === 'suggest' && !isRunning && <Suggestion results={results} />}
      <div className="actions">
        <button type="button" onClick={save}>
          Export JSON
        </button>
      </div>
    </div>
  );
}

interface ResultRowProps {
  readonly trial: Trial;
  readonly trials: readonly Trial[];
  readonly mode: LoadResults['mode'];
}

function ResultRow({ trial, trials, mode }: ResultRowProps) {
  const { label, summary } = trial;
  const [first] = trials;
  const best = Math.max(...trials.map((other) => other.summary.tokensPerSecond));
  const share = best > 0 ? summary.tokensPerSecond / best : 0;
  return (
    <tr data-run={label}>
      <th scope="row">{label}</th>
      <td
        className="load-bar-cell"
        style={{ backgroundSize: `${share * 100}% 100%` }}
        data-value={summary.tokensPerSecond}
      >
        {formatNumber(summary.tokensPerSecond)}
      </td>
      {mode === 'compare' && <td>{formatRatio(summary.tokensPerSecond, first?.summary.tokensPerSecond)}</td>}
      <td>{formatNumber(summary.requestsPerSecond)}</td>
      <td>{formatNumber(summary.goodputPerSecond)}</td>
      <td data-tokens={summary.numOutputTokens} data-finished={summary.numFinished}>
        {describeFinished(summary)}
      </td>
      <td>{formatCount(summary.numRejected)}</td>
      <td>{formatPercentiles(summary.ttftMs)}</td>
      <td>{formatPercentiles(summary.tpotMs)}</td>
      <td>{formatPercentiles(summary.queueWaitMs)}</td>
      <td>{formatPercentiles(summary.e2eMs)}</td>
      <td>{formatMs(summary.durationMs)}</td>
    </tr>
  );
}

interface SuggestionProps {
  readonly results: LoadResults;
}

function Suggestion({ results: { trials, latencyLimitMs, isWhole } }: SuggestionProps) {
  const { serve, store } = useServe();
  const [error, setError] = useState<WireError>();
  const [isApplied, setIsApplied] = useState(false);
  const best = isWhole ? suggest(trials, latencyLimitMs) : undefined;
  if (!best) return <p>Nothing is suggested: the load test, or a request of it, did not come to its end.</p>;
  const { policy, maxBatchSize, batchWaitTimeoutMs } = best.policy;
  const p95 = best.summary.e2eMs?.p95;
  const isKept = p95 !== undefined && p95 <= latencyLimitMs;

  const apply = async (): Promise<void> => {
    try {
      await configurePolicy(serve, store, { policy, maxBatchSize, batchWaitTimeoutMs });
      setIsApplied(true);
    } catch (caught) {
      setError(toWireError(caught));
    }
  };

  return (
    <div className="load-suggestion" data-testid="suggestion">
      <p>
        <strong>
          Max batch size {maxBatchSize}, batch wait timeout {batchWaitTimeoutMs} ms
        </strong>{' '}
        under {policy}{' '}
        {isKept
          ? `serves the most within ${formatMs(latencyLimitMs)}: ${formatNumber(best.summary.goodputPerSecond)} requests/s in time, p95 ${formatMs(p95)}.`
          : `comes closest: no setting kept ${formatMs(latencyLimitMs)} for 95 % of the requests; its p95 is ${formatMs(p95)}.`}
      </p>
      <button type="button" disabled={isApplied} onClick={() => void apply()}>
        {isApplied ? 'Applied' : 'Apply'}
      </button>
      {error && <ErrorLine error={error} />}
    </div>
  );
}

function describeFinished({ numFinished, numSent, numFailed, numCancelled }: LoadSummary): string {
  const others = [
    ...(numFailed > 0 ? [`${formatCount(numFailed)} failed`] : []),
    ...(numCancelled > 0 ? [`${formatCount(numCancelled)} stopped`] : []),
  ];
  const finished = `${formatCount(numFinished)} of ${formatCount(numSent)}`;
  return others.length > 0 ? `${finished}, ${others.join(', ')}` : finished;
}

function formatPercentiles(percentiles: Percentiles | undefined): string {
  if (!percentiles) return NO_VALUE;
  const { p50, p95, p99 } = percentiles;
  return formatEachMs([p50, p95, p99]);
}
