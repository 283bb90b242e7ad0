import type { Percentiles } from '../../../client/index.ts';
import { formatCount, formatMs, formatNumber, NO_VALUE } from '../../parts/format.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { formatRatio, titleOfGoodput } from './compare-measures.ts';
import type { LoadResults } from './load-session.ts';
import { latenciesOf, type LoadSummary, type Trial } from './summarize.ts';

export interface LoadTableProps {
  readonly results: LoadResults;
}

/** One row for each run. */
export function LoadTable({ results }: LoadTableProps) {
  const { mode, deployment, latencyLimitMs, trials } = results;
  return (
    <ScrollBox label="Table of results" className="load-scroll">
      <table className="scroll-table" data-testid="load-results" aria-label="Results">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Tokens/s</th>
            {mode === 'compare' && <th scope="col">× {trials[0]?.label}</th>}
            <th scope="col">Requests/s</th>
            <th scope="col">{titleOfGoodput(latencyLimitMs)}</th>
            <th scope="col">Finished</th>
            <th scope="col">
              <span className="visually-hidden">Percentile</span>
            </th>
            {latenciesOf(deployment).map(([title]) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {trials.map((trial) => (
            <ResultRow key={trial.label} trial={trial} results={results} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

interface ResultRowProps extends LoadTableProps {
  readonly trial: Trial;
}

function ResultRow({ trial: { label, summary }, results }: ResultRowProps) {
  const { mode, deployment, trials } = results;
  const [first] = trials;
  const best = Math.max(...trials.map((other) => other.summary.tokensPerSecond));
  const share = best > 0 ? summary.tokensPerSecond / best : 0;
  return (
    <tr data-run={label}>
      <th scope="row" className="strong">
        {label}
      </th>
      <td className="load-bar-cell strong" style={{ backgroundSize: `${share * 100}% 100%` }}>
        {formatNumber(summary.tokensPerSecond)}
      </td>
      {mode === 'compare' && <td>{formatRatio(summary.tokensPerSecond, first?.summary.tokensPerSecond)}</td>}
      <td>{formatNumber(summary.requestsPerSecond)}</td>
      <td>{formatNumber(summary.goodputPerSecond)}</td>
      <td>
        <Lines texts={describeFinished(summary)} />
      </td>
      <td className="muted">
        <Lines texts={['p50', 'p95', 'p99']} />
      </td>
      {latenciesOf(deployment).map(([title, figure]) => (
        <td key={title}>
          <Lines texts={formatPercentiles(summary[figure])} />
        </td>
      ))}
    </tr>
  );
}

function Lines({ texts }: { readonly texts: readonly string[] }) {
  return texts.map((text, index) => <div key={index}>{text}</div>);
}

function describeFinished(summary: LoadSummary): string[] {
  const { numFinished, numSent, numRejected, numFailed, numCancelled, durationMs } = summary;
  return [
    `${formatCount(numFinished)} of ${formatCount(numSent)}`,
    ...(numRejected > 0 ? [`${formatCount(numRejected)} rejected`] : []),
    ...(numFailed > 0 ? [`${formatCount(numFailed)} failed`] : []),
    ...(numCancelled > 0 ? [`${formatCount(numCancelled)} stopped`] : []),
    `in ${formatMs(durationMs)}`,
  ];
}

function formatPercentiles(percentiles: Percentiles | undefined): string[] {
  if (!percentiles) return [NO_VALUE];
  return [percentiles.p50, percentiles.p95, percentiles.p99].map((value) => formatMs(value));
}
