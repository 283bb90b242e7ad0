import { useEffect, useState } from 'react';
import { useStore } from 'zustand';

import '../compare/compare-panel.css';
import { TrialFigures } from '../compare/policy-multiples.tsx';
import { Button } from '../parts/button.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { useServe } from '../state/serve-context.ts';
import { describeComparison, describeGain, figuresOfTrial } from './comparison-texts.ts';
import { EmbedComparison, WAYS } from './embed-comparison.ts';
import type { Embedded } from './embed-room.ts';

interface ComparisonPanelProps {
  readonly embedded: Embedded;
  readonly onClose: () => void;
}

/** The lines again one by one, batched, and batched in the order of their lengths. */
export function ComparisonPanel({ embedded, onClose }: ComparisonPanelProps) {
  const { serve } = useServe();
  const [abort] = useState(() => new AbortController());
  const [comparison] = useState(() => new EmbedComparison(serve, embedded, abort.signal));
  const view = useStore(comparison.store);
  const { isRunning, trials, error } = view;
  useEffect(() => {
    void comparison.start();
    // The knobs are set back before the page is gone.
    const leave = (): void => abort.abort();
    window.addEventListener('pagehide', leave, { signal: abort.signal });
  }, [comparison, abort]);
  const close = (): void => {
    abort.abort();
    onClose();
  };
  return (
    <section className="compare" aria-labelledby="embed-compare-title">
      <div className="compare-head row">
        <h3 id="embed-compare-title">{describeGain(trials)}</h3>
        {isRunning && (
          <Button variant="small" onClick={() => abort.abort()}>
            Stop
          </Button>
        )}
        <Button variant="quiet" onClick={close}>
          Close
        </Button>
      </div>
      <div className="compare-note">
        {error ? (
          <div role="alert">
            <ErrorLine error={error} />
          </div>
        ) : (
          <output className="note">{describeComparison(view)}</output>
        )}
      </div>
      <div className="multiples">
        {WAYS.map((way, index) => (
          <figure key={way} className="multiple">
            <figcaption>{way}</figcaption>
            <TrialFigures figures={figuresOfTrial(trials[index], trials)} />
          </figure>
        ))}
      </div>
    </section>
  );
}
