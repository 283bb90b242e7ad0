import { useEffect, useState } from 'react';
import { useStore } from 'zustand';

import { NO_VALUE } from '../../parts/format.ts';
import { POLICY_NAMES } from '../policy/policy-texts.ts';
import { useServe } from '../../state/serve-context.ts';
import { comparePolicies, measuredOf, type ComparedTrial } from './compare-session.ts';
import { describeTexts } from './compare-texts.ts';
import { ComparisonFrame } from '../trials/comparison-frame.tsx';
import type { ComparisonView } from '../trials/run-trials.ts';
import type { ComparedPrompt, Measured } from './compared-prompts.ts';
import { PolicyMultiples, type PolicyTrial } from '../trials/policy-multiples.tsx';

interface ComparePanelProps {
  readonly prompts: readonly ComparedPrompt[];
  /** Ends the comparison. */
  readonly abort: AbortController;
  readonly onMeasured: (measured: Measured) => void;
  readonly onClose: () => void;
}

/** The run's prompts again under each policy, side by side. */
export function ComparePanel({ prompts, abort, onMeasured, onClose }: ComparePanelProps) {
  const { serve, store } = useServe();
  const [comparison] = useState(() => comparePolicies(serve, store, prompts, abort.signal));
  const view = useStore(comparison.store);
  const { isRunning, trials, error } = view;

  useEffect(() => {
    void comparison.start((ended) => {
      const measured = measuredOf(ended);
      if (measured) onMeasured(measured);
    });
  }, [comparison, onMeasured]);

  return (
    <ComparisonFrame
      title="The same prompts under each policy"
      onStop={isRunning && !abort.signal.aborted ? () => abort.abort() : undefined}
      onClose={onClose}
      error={error}
      note={describeProgress(view, prompts.length)}
    >
      <PolicyMultiples trials={POLICY_NAMES.map((policy, index) => trials[index] ?? emptyTrial(policy))} />
    </ComparisonFrame>
  );
}

function describeProgress(
  { isRunning, progress, trials }: ComparisonView<ComparedTrial>,
  numPrompts: number,
): string {
  if (progress) return `${progress.label}: ${progress.numDone} of ${numPrompts}`;
  if (isRunning) return '';
  if (trials.length < POLICY_NAMES.length) return 'Stopped.';
  return describeTexts(trials.map(({ texts }) => texts));
}

function emptyTrial(label: string): PolicyTrial {
  const figures = ['Total', 'Tokens/s', 'TTFT p50', 'Peak batch'].map((name) => ({ name, value: NO_VALUE }));
  return { label, startedAtMs: 0, durationMs: 0, requestIds: [], bars: [], figures };
}
