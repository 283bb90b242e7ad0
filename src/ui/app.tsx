import { useMemo } from 'react';

import type { Serve } from '../worker/client.ts';
import './app.css';
import { ComposePanel } from './compose/compose-panel.tsx';
import { FailurePanel } from './header/failure-panel.tsx';
import { SiteHeader } from './header/site-header.tsx';
import { StateFacts } from './header/state-facts.tsx';
import { PolicyPanel } from './policy/policy-panel.tsx';
import { RequestList } from './requests/request-list.tsx';
import { ServeContext, useServeView } from './state/serve-context.ts';
import type { ServeStore } from './state/serve-store.ts';
import { WatchPanel } from './watch/watch-panel.tsx';

interface AppProps {
  readonly serve: Serve;
  readonly store: ServeStore;
}

export function App({ serve, store }: AppProps) {
  const context = useMemo(() => ({ serve, store }), [serve, store]);
  return (
    <ServeContext value={context}>
      <SiteHeader>
        <StateFacts />
      </SiteHeader>
      <LoadFailure />
      <main className="workspace">
        <div className="rail">
          <ComposePanel />
          <PolicyPanel />
        </div>
        <div className="stage">
          <WatchPanel />
          <RequestList />
        </div>
      </main>
    </ServeContext>
  );
}

function LoadFailure() {
  const error = useServeView((view) => (view.status.state === 'failed' ? view.status.error : undefined));
  return error && <FailurePanel error={error} />;
}
