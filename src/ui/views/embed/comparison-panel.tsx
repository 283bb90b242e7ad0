import { useEffect, useState } from 'react';
import { useStore } from 'zustand';

import { ComparisonFrame } from '../../panels/trials/comparison-frame.tsx';
import { Multiples } from '../../panels/trials/policy-multiples.tsx';
import { useServe } from '../../state/serve-context.ts';
import { describeComparison, describeGain, figuresOfTrial } from './comparison-texts.ts';
import { compareWays } from './embed-comparison.ts';
import type { Embedded } from './embed-room.ts';
import { WAYS } from '../../panels/trials/ways.ts';

interface ComparisonPanelProps {
  readonly embedded: Embedded;
  readonly onClose: () => void;
}

/** The lines again one by one, batched, and batched in the order of their lengths. */
export function ComparisonPanel({ embedded, onClose }: ComparisonPanelProps) {
  const { serve } = useServe();
  const [abort] = useState(() => new AbortController());
  const [comparison] = useState(() => compareWays(serve, embedded, abort.signal));
  const view = useStore(comparison.store);
  const { isRunning, trials, error } = view;
  useEffect(() => {
    void comparison.start();
  }, [comparison]);
  const close = (): void => {
    abort.abort();
    onClose();
  };
  return (
    <ComparisonFrame
      title={describeGain(trials)}
      onStop={isRunning ? () => abort.abort() : undefined}
      onClose={close}
      error={error}
      note={describeComparison(view)}
    >
      <Multiples
        trials={WAYS.map((label, index) => ({ label, figures: figuresOfTrial(trials[index], trials) }))}
      />
    </ComparisonFrame>
  );
}
