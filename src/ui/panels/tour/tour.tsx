import { useEffect, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { useIsServer, useServeView } from '../../state/serve-context.ts';
import type { ServeView } from '../../state/serve-store.ts';
import { noteVisit } from './first-visit.ts';
import { SecondTabButton } from './second-tab-button.tsx';

const HINTS = [
  'Press Run: nine prompts share each step of the model, and the batch size rises to 8.',
  'Press Compare: the same prompts run one at a time and together. It says how much faster that is, and whether the texts are the same.',
  'Open a second tab and press Run there: its prompts join the same batches, in another color.',
] as const;

/** A server shows no steps, and its texts can't be compared. */
const HINTS_AT_SERVER = [
  'Press Run: nine prompts go to the server, and the charts show its tokens/s and latency.',
] as const;

/** A few hints on the first visit. They don't come back. */
export function Tour() {
  const [index, setIndex] = useState(0);
  useEffect(noteVisit, []);
  const numDone = useServeView(countDone);
  if (index < numDone) setIndex(numDone);
  const isServer = useIsServer();
  const hints = isServer ? HINTS_AT_SERVER : HINTS;
  const hint = hints[index];
  if (hint === undefined) return null;
  const isLast = index === hints.length - 1;
  const leave = (): void => {
    setIndex(hints.length);
    // The button that has the focus goes. Enter runs the prompts, as before the first hint.
    document.querySelector<HTMLElement>('.run-button')?.focus();
  };
  return (
    <aside className="tour stack" aria-label="Hints">
      <p>{hint}</p>
      <div className="tour-actions row">
        <span className="note">
          {index + 1} of {hints.length}
        </span>
        {isLast && !isServer && <SecondTabButton />}
        <Button variant="quiet" onClick={isLast ? leave : () => setIndex(index + 1)}>
          {isLast ? 'Done' : 'Next'}
        </Button>
        {!isLast && (
          <Button variant="quiet" onClick={leave}>
            Skip
          </Button>
        )}
      </div>
    </aside>
  );
}

/** The hints that the reader has followed already. A job of several rows is no press of Run. */
function countDone({ runs, status }: ServeView): number {
  if (status.numTabs > 1) return HINTS.length;
  if (runs.experiment) return 2;
  return runs.own?.endedAtMs !== undefined && runs.own.requestIds.length > 1 ? 1 : 0;
}
