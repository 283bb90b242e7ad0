import { useEffect, useMemo, useState } from 'react';

import { MainCharts } from '../../panels/watch/main-charts.tsx';
import { ServeContext, useServe } from '../../state/serve-context.ts';
import { ServerRun } from './server-run.ts';

/** Tokens/s and latency of the rows that are at a server. */
export function ServerCharts() {
  const context = useServe();
  const [run] = useState(() => new ServerRun(context.store));
  useEffect(() => run.follow(), [run]);
  const ofRun = useMemo(() => ({ ...context, store: run.store }), [context, run]);
  return (
    <ServeContext value={ofRun}>
      <MainCharts emptyText="Run a job to see its tokens/s and latency." />
    </ServeContext>
  );
}
