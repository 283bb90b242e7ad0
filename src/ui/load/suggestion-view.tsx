import { useState } from 'react';

import { EMBEDDER } from '../../client/index.ts';
import { Button } from '../parts/button.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { configurePolicy } from '../state/connect-store.ts';
import { useServe } from '../state/serve-context.ts';
import { useAttempt } from '../parts/use-attempt.ts';
import type { LoadResults } from './load-session.ts';
import type { TrialKnobs } from './load-target.ts';
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
      {hasDifference && <ApplyButton knobs={(suggestion.waits ?? suggestion.sizes).best.policy} />}
    </div>
  );
}

function ApplyButton({ knobs }: { readonly knobs: TrialKnobs }) {
  const { serve, store } = useServe();
  const { refusal, attempt } = useAttempt();
  const [isApplied, setIsApplied] = useState(false);

  const apply = async (): Promise<void> => {
    const { policy, maxBatchSize, batchWaitTimeoutMs } = knobs;
    const wasSet = await attempt(async () => {
      if (policy) await configurePolicy(serve, store, { policy, maxBatchSize, batchWaitTimeoutMs });
      else await serve.configure(EMBEDDER, { maxBatchSize, batchWaitTimeoutMs });
    });
    if (wasSet) setIsApplied(true);
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
