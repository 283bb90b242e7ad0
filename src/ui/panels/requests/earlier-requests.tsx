import { lazy, Suspense } from 'react';

import { Disclosure } from '../../parts/disclosure.tsx';
import { formatCount } from '../../parts/format.ts';
import { useServeView } from '../../state/serve-context.ts';
import { cellIds } from './request-order.ts';

const EarlierList = lazy(async () => ({ default: (await import('./earlier-list.tsx')).EarlierList }));

/** Requests of earlier runs, of load tests and of comparisons. */
export function EarlierRequests() {
  const numEarlier = useServeView((view) => view.requests.size - cellIds(view).length);
  if (numEarlier === 0) return null;
  return (
    <Disclosure title="Earlier requests" note={formatCount(numEarlier)} isKept={false}>
      <Suspense>
        <EarlierList />
      </Suspense>
    </Disclosure>
  );
}
