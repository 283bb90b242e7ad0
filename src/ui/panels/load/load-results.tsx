import { useMemo } from 'react';

import { TEXT_GENERATOR } from '../../../client/index.ts';
import { Multiples, PolicyMultiples } from '../trials/policy-multiples.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { formatMs } from '../../parts/format.ts';
import { multipleOfRun, multiplesOf } from './compare-measures.ts';
import { LatencyCurve } from './latency-curve.tsx';
import type { LoadResults } from './load-session.ts';
import { LoadTable, type LoadTableProps } from './load-table.tsx';

export function LoadResultsView({ results }: LoadTableProps) {
  const { mode, latencyLimitMs, trials } = results;
  const table = trials.length > 0 && <LoadTable results={results} />;

  if (mode !== 'sweep') {
    return (
      <div className="load-results stack loose">
        <Timelines results={results} />
        {table && <Disclosure title="Table">{table}</Disclosure>}
      </div>
    );
  }
  return (
    <div className="load-results stack loose">
      {trials.length > 1 && <LatencyCurve trials={trials} latencyLimitMs={latencyLimitMs} />}
      {table}
    </div>
  );
}

/** Their places are there from the start, so that nothing moves when a trial has ended. */
function Timelines({
  results: { mode, trials, latencyLimitMs, deployment },
}: {
  readonly results: LoadResults;
}) {
  const multiples = useMemo(
    () =>
      mode === 'compare' ? multiplesOf(trials) : trials.map((trial) => multipleOfRun(trial, deployment)),
    [mode, trials, deployment],
  );
  const isCut = trials.some(({ summary, slots }) => {
    const numShown = new Set(slots?.bars.map(({ requestId }) => requestId)).size;
    return numShown > 0 && numShown < summary.numFinished;
  });
  return (
    <>
      {deployment === TEXT_GENERATOR ? (
        <PolicyMultiples trials={multiples} />
      ) : (
        <Multiples trials={multiples} />
      )}
      {trials.length > 0 && (
        <p className="note">
          Goodput counts requests within {formatMs(latencyLimitMs)}.
          {mode === 'compare' &&
            ` Ratios are to ${multiples[0]?.label}. Less is better for TTFT and end to end (E2E).`}
          {isCut && ' A timeline shows only its newest requests.'}
        </p>
      )}
    </>
  );
}
