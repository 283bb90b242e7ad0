import { useState } from 'react';

import type { BatchingPolicy } from '../../client/index.ts';
import { Button } from '../parts/button.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { configurePolicy } from '../state/connect-store.ts';
import { useServe } from '../state/serve-context.ts';
import { useAttempt } from '../parts/use-attempt.ts';
import type { LoadResults } from './load-session.ts';
import { isMeasurable } from './suggest-knobs.ts';
import { describeSuggestion } from './suggestion-text.ts';

export function SuggestionView({ results }: { readonly results: LoadResults }) {
  const { suggestion, latencyLimitMs } = results;
  if (!suggestion) {
    const { trials } = results;
    const isStopped = trials.length === 0 || trials.some(({ summary }) => summary.numCancelled > 0);
    return (
      <p>
        {isStopped
          ? 'No suggestion: the search was stopped before a run was over.'
          : 'No suggestion: no request finished.'}
      </p>
    );
  }
  const { title, reasons } = describeSuggestion(suggestion, latencyLimitMs);
  const hasDifference = isMeasurable(suggestion.sizes) || suggestion.isStopped;
  return (
    <div className="load-suggestion" data-testid="suggestion">
      <div>
        <p>
          <strong>{title}</strong>
        </p>
        {reasons.map((reason) => (
          <p key={reason}>{reason}</p>
        ))}
      </div>
      {hasDifference && <ApplyButton policy={(suggestion.waits ?? suggestion.sizes).best.policy} />}
    </div>
  );
}

function ApplyButton({ policy: chosen }: { readonly policy: BatchingPolicy }) {
  const { serve, store } = useServe();
  const { refusal, attempt } = useAttempt();
  const [isApplied, setIsApplied] = useState(false);

  const apply = async (): Promise<void> => {
    const { policy, maxBatchSize, batchWaitTimeoutMs } = chosen;
    if (await attempt(() => configurePolicy(serve, store, { policy, maxBatchSize, batchWaitTimeoutMs })))
      setIsApplied(true);
  };

  return (
    <>
      <Button disabled={isApplied} onClick={() => void apply()}>
        {isApplied ? 'Applied' : 'Apply'}
      </Button>
      {refusal && <ErrorLine error={refusal} />}
    </>
  );
}
