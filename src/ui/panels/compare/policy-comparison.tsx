import { useEffect, useState } from 'react';
import { useStore } from 'zustand';

import { POLICY_NAMES } from '../policy/policy-texts.ts';
import { useServe } from '../../state/serve-context.ts';
import { comparePolicies, measuredOf } from './compare-session.ts';
import { comparedTexts, describeTexts } from './compare-texts.ts';
import { ComparisonFrame } from '../trials/comparison-frame.tsx';
import type { ComparisonView } from '../trials/run-trials.ts';
import type { ComparedPrompt, Measured } from './compared-prompts.ts';
import { emptyTrial, type PromptTrial } from '../trials/measure-prompts.ts';
import { PolicyMultiples } from '../trials/policy-multiples.tsx';

export interface PolicyComparisonProps {
  readonly prompts: readonly ComparedPrompt[];
  /** Ends the comparison. */
  readonly abort: AbortController;
  readonly onMeasured: (measured: Measured) => void;
  readonly onClose: () => void;
  /** To the other kind of comparison. */
  readonly onSwitch: () => void;
}

/** The run's prompts again under each policy, side by side. */
export function PolicyComparison({ prompts, abort, onMeasured, onClose, onSwitch }: PolicyComparisonProps) {
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
      other={{ title: 'Two models', onOpen: onSwitch }}
      error={error}
      note={describeProgress(view, prompts.length)}
    >
      <PolicyMultiples trials={POLICY_NAMES.map((policy, index) => trials[index] ?? emptyTrial(policy))} />
    </ComparisonFrame>
  );
}

function describeProgress(
  { isRunning, progress, trials }: ComparisonView<PromptTrial>,
  numPrompts: number,
): string {
  if (progress) return `${progress.label}: ${progress.numDone} of ${numPrompts}`;
  if (isRunning) return '';
  if (trials.length < POLICY_NAMES.length) return 'Stopped.';
  return describeTexts(trials.map(comparedTexts));
}
