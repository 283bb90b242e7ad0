import { useState } from 'react';
import { useShallow } from 'zustand/shallow';

import { Button } from '../button.tsx';
import { formatCount } from '../format.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { clearFinished } from '../state/serve-store.ts';
import { isActive } from '../state/request-view.ts';
import './request-list.css';
import { RequestRow } from './request-row.tsx';
import { useInTurns } from './use-in-turns.ts';

/** Rows drawn at first, and added by each “Show older”. */
const PAGE_SIZE = 40;

export function RequestList() {
  const { store } = useServe();
  // The ids stay the same array while text streams, so that a token renders no list.
  const requestIds = useServeView(useShallow(({ requests }) => [...requests.keys()]));
  const numActive = useServeView(
    ({ requests }) => [...requests.values()].filter(({ status }) => isActive(status)).length,
  );
  const numOver = requestIds.length - numActive;
  const [numShown, setNumShown] = useState(PAGE_SIZE);
  const listedIds = useInTurns(requestIds);
  const numHidden = listedIds.length - numShown;
  return (
    <section className="requests" aria-labelledby="requests-title">
      <div className="panel-head">
        <h2 id="requests-title">Requests</h2>
        <output className="visually-hidden">
          {numActive === 0 && numOver > 0 ? `All requests are over: ${numOver}.` : ''}
        </output>
        <Button disabled={numOver === 0} onClick={() => clearFinished(store)}>
          Clear finished
        </Button>
      </div>
      <ul className="request-list" aria-labelledby="requests-title">
        {listedIds
          .slice(-numShown)
          .toReversed()
          .map((id) => (
            <RequestRow key={id} id={id} />
          ))}
      </ul>
      {numHidden > 0 && (
        <Button onClick={() => setNumShown(numShown + PAGE_SIZE)}>
          Show older ({formatCount(numHidden)})
        </Button>
      )}
      {requestIds.length === 0 && (
        <div className="requests-empty panel muted">
          <p>No request yet.</p>
          <p>
            Press <kbd>Enter</kbd> in the prompt box, or send the nine sample prompts at once and watch the
            batch size grow. Requests sent while the model loads wait and start by themselves.
          </p>
        </div>
      )}
    </section>
  );
}
