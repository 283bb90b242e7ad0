import { Activity, useMemo } from 'react';

import type { Serve } from '../worker/client.ts';
import './app.css';
import { ComposePanel } from './compose/compose-panel.tsx';
import { DeploymentTabs, tabId, tabPanelId } from './deployments/deployment-tabs.tsx';
import { DeploymentView } from './deployments/deployment-view.tsx';
import { listDeployments } from './deployments/selected-deployment.ts';
import { UnknownDeployment } from './deployments/unknown-deployment.tsx';
import { useSelectedDeployment } from './deployments/use-selected-deployment.ts';
import { FailurePanel } from './header/failure-panel.tsx';
import { SiteHeader } from './header/site-header.tsx';
import { StateFacts } from './header/state-facts.tsx';
import { LazyModelsPanel } from './models/lazy-models-panel.tsx';
import { PolicyPanel } from './policy/policy-panel.tsx';
import { RequestList } from './requests/request-list.tsx';
import { ServeContext, useServeView } from './state/serve-context.ts';
import { TEXT_GENERATOR } from './state/serve-store.ts';
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
      <Deployments />
    </ServeContext>
  );
}

/** One view per deployment. A hidden one keeps what was typed in it and draws nothing. */
function Deployments() {
  const served = useServeView((view) => view.status.deployments);
  const [selected, select] = useSelectedDeployment();
  const deployments = listDeployments(served.map(({ name }) => name));
  return (
    <main>
      <DeploymentTabs deployments={deployments} selected={selected} onSelect={select} />
      {deployments.map((name) => (
        <Activity key={name} mode={name === selected ? 'visible' : 'hidden'}>
          {name === TEXT_GENERATOR ? (
            <TextGeneratorView />
          ) : (
            <DeploymentView name={name} isShown={name === selected} />
          )}
        </Activity>
      ))}
      {!deployments.includes(selected) && <UnknownDeployment name={selected} />}
    </main>
  );
}

function TextGeneratorView() {
  return (
    <div
      className="workspace"
      role="tabpanel"
      id={tabPanelId(TEXT_GENERATOR)}
      aria-labelledby={tabId(TEXT_GENERATOR)}
    >
      <div className="rail">
        <ComposePanel />
        <PolicyPanel />
        <LazyModelsPanel />
      </div>
      <div className="stage">
        <WatchPanel />
        <RequestList />
      </div>
    </div>
  );
}

/** The other deployments need no model: they serve all the same. */
function LoadFailure() {
  const error = useServeView((view) => (view.status.state === 'failed' ? view.status.error : undefined));
  return error && <FailurePanel error={error} what="The text generator" />;
}
