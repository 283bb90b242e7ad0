import { useEffect, useState } from 'react';

import { Button } from '../parts/button.tsx';
import { useServeView } from '../state/serve-context.ts';
import { readStored, writeStored } from '../parts/stored-text.ts';
import type { ServeView } from '../state/serve-store.ts';
import './tour.css';

const HINTS = [
  'A language model runs inside this tab. Every tab you open shares it, and their prompts run together: press Run.',
  'Choose off and run again: the prompts go one by one. Compare puts the two side by side.',
  'Open a second tab and press Run there: its prompts join the same batches, in another color.',
] as const;

const KEY = 'tabserve-tour';

/** Three hints on the first visit. They don't come back. */
export function Tour() {
  // Without storage the hints would come back at each visit.
  const [index, setIndex] = useState(() => (readStored('localStorage', KEY) === null ? 0 : HINTS.length));
  useEffect(() => writeStored('localStorage', KEY, 'shown'), []);
  const numDone = useServeView(countDone);
  if (index < numDone) setIndex(numDone);
  const hint = HINTS[index];
  if (hint === undefined) return null;
  const isLast = index === HINTS.length - 1;
  return (
    <aside className="tour" aria-label="Hints">
      <p>{hint}</p>
      <div className="tour-actions row">
        <span className="note">
          {index + 1} of {HINTS.length}
        </span>
        {isLast && (
          <Button variant="small" onClick={() => window.open(location.href)}>
            Open a second tab
          </Button>
        )}
        <Button variant="quiet" onClick={() => setIndex(index + 1)}>
          {isLast ? 'Done' : 'Next'}
        </Button>
        {!isLast && (
          <Button variant="quiet" onClick={() => setIndex(HINTS.length)}>
            Skip
          </Button>
        )}
      </div>
    </aside>
  );
}

/** The hints that the reader has followed already. */
function countDone({ runs, status }: ServeView): number {
  if (status.numTabs > 1) return HINTS.length;
  if (runs.experiment) return 2;
  return runs.prompts?.endedAtMs !== undefined && runs.prompts.requestIds.length > 1 ? 1 : 0;
}
