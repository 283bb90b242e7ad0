import { useStore } from 'zustand';

import { ErrorLine } from '../../parts/error-line.tsx';
import { formatCount } from '../../parts/format.ts';
import { describeOutcome } from './describe-outcome.ts';
import type { LoadResults, LoadSession, LoadView } from './load-session.ts';
import { describePlan } from './plan-time.ts';

/** How far the test is, or its result, or why it can't start. Its height is reserved. Screen readers announce only the end. */
export function LoadProgress({ session }: { readonly session: LoadSession }) {
  const view = useStore(session.store);
  const { progress, isRunning, error, results } = view;
  return (
    <div className="load-progress">
      {isRunning && (
        <>
          <p>{progress ? describePlan(progress) : 'Starting'}</p>
          <progress
            aria-label="Load test"
            {...(progress && {
              value: progress.elapsedMs,
              max: progress.elapsedMs + progress.leftMs,
            })}
          />
          <p className="note">
            {progress &&
              `${formatCount(progress.numSent)} sent, ${formatCount(progress.numFinished)} finished, ${formatCount(progress.numRejected)} rejected, ${formatCount(progress.numTokens)} tokens`}
          </p>
        </>
      )}
      {!isRunning && !error && results && <Outcome results={results} />}
      <div role="alert">{error && <ErrorLine error={error} />}</div>
      <output className="visually-hidden">{describeEnd(view)}</output>
    </div>
  );
}

function Outcome({ results }: { readonly results: LoadResults }) {
  const { title, detail } = describeOutcome(results);
  return (
    <>
      <h3>{title}</h3>
      <p className="note">{detail}</p>
    </>
  );
}

function describeEnd({ isRunning, results }: LoadView): string {
  if (isRunning || !results) return '';
  const numRuns = results.trials.length;
  return `The load test is over: ${numRuns} ${numRuns === 1 ? 'run' : 'runs'}.`;
}
