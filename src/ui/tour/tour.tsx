import { useEffect, useState } from 'react';

import { Button } from '../parts/button.tsx';
import { readStored, writeStored } from '../parts/stored-text.ts';
import './tour.css';

const HINTS = [
  'Press Run. Nine prompts share each step of the model; watch the batch size rise to 8.',
  'Choose off and run again: the prompts go one by one. Compare puts the two side by side.',
  'Open this page in a second tab. Its prompts join the same batches, in another color.',
] as const;

const KEY = 'tabserve-tour';

/** Three hints on the first visit. They don't come back. */
export function Tour() {
  // Without storage the hints would come back at each visit.
  const [index, setIndex] = useState(() => (readStored('localStorage', KEY) === null ? 0 : HINTS.length));
  useEffect(() => writeStored('localStorage', KEY, 'shown'), []);
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
