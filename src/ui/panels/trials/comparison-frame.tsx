import { useEffect, useId, useRef, type ReactNode } from 'react';

import type { WireError } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import './comparison-frame.css';

interface ComparisonFrameProps {
  readonly title: string;
  /** Left out while nothing runs that could be stopped. */
  readonly onStop?: (() => void) | undefined;
  readonly onClose: () => void;
  /** Another comparison in its place. */
  readonly other?: { readonly title: string; readonly onOpen: () => void };
  readonly error: WireError | undefined;
  /** Said where there is no error. */
  readonly note: string;
  /** The trials, side by side. */
  readonly children: ReactNode;
}

/** The panel of a comparison: what it found, how it goes, and its trials. */
export function ComparisonFrame(props: ComparisonFrameProps) {
  const { title, onStop, onClose, other, error, note, children } = props;
  const titleId = useId();
  const titleRef = useRef<HTMLHeadingElement>(null);
  // The button that opened it may have gone with the other comparison.
  useEffect(() => {
    if (document.activeElement === document.body) titleRef.current?.focus();
  }, []);
  return (
    <section className="compare" aria-labelledby={titleId}>
      <div className="compare-head row">
        <h3 className="grow" id={titleId} ref={titleRef} tabIndex={-1}>
          {title}
        </h3>
        {onStop && (
          <Button variant="small" onClick={onStop}>
            Stop
          </Button>
        )}
        {other && (
          <Button variant="quiet" onClick={other.onOpen}>
            {other.title}
          </Button>
        )}
        <Button variant="quiet" onClick={onClose}>
          Close
        </Button>
      </div>
      <div className="compare-note">
        {error ? (
          <div role="alert">
            <ErrorLine error={error} />
          </div>
        ) : (
          <output className="note">{note}</output>
        )}
      </div>
      {children}
    </section>
  );
}
