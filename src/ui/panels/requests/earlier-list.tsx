import { useState } from 'react';
import { useShallow } from 'zustand/shallow';

import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/format.ts';
import { useServeView } from '../../state/serve-context.ts';
import { RequestCell } from './request-cell.tsx';
import { earlierIds } from './request-order.ts';

/** Cells drawn at first, and added by each “Show older”. */
const PAGE_SIZE = 40;

export function EarlierList() {
  const ids = useServeView(useShallow(earlierIds));
  const [numShown, setNumShown] = useState(PAGE_SIZE);
  const numHidden = ids.length - numShown;
  if (ids.length === 0) return <p className="note">Requests of earlier runs appear here.</p>;
  return (
    <>
      <ul className="cells" aria-label="Earlier requests">
        {ids.slice(0, numShown).map((id) => (
          <RequestCell key={id} id={id} />
        ))}
      </ul>
      {numHidden > 0 && (
        <Button variant="small" onClick={() => setNumShown(numShown + PAGE_SIZE)}>
          Show older ({formatCount(numHidden)})
        </Button>
      )}
    </>
  );
}
