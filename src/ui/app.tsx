import { Activity, lazy, Suspense, useMemo, useState } from 'react';

import type { Serve } from '../worker/client/client.ts';
import { TEXT_GENERATOR } from '../worker/protocol/generation.ts';
import './app.css';
import { ComposerContext } from './compose/composer-context.ts';
import type { Composer } from './compose/composer.ts';
import { listDeployments, titleOf, useSelectedDeployment } from './deployments/selected-deployment.ts';
import { UnknownDeployment } from './deployments/unknown-deployment.tsx';
import { FailurePanel } from './header/failure-panel.tsx';
import { SiteHeader } from './header/site-header.tsx';
import { StatusChip } from './header/status-chip.tsx';
import { PanelBoundary } from './panel-boundary.tsx';
import { ServeContext, useServeView } from './state/serve-context.ts';
import type { ServeStore } from './state/serve-store.ts';
import { TabList } from './tab-list.tsx';
import { TextView } from './text-view.tsx';

/** Loaded after the first screen. */
const DeploymentView = lazy(async () => ({
  default: (await import('./deployments/deployment-view.tsx')).DeploymentView,
}));

interface AppProps {
  readonly serve: Serve;
  readonly store: ServeStore;
  readonly composer: Composer;
}

export function App({ serve, store, composer }: AppProps) {
  const context = useMemo(() => ({ serve, store }), [serve, store]);
  return (
    <ServeContext value={context}>
      <ComposerContext value={composer}>
        <Deployments />
      </ComposerContext>
    </ServeContext>
  );
}

/** One view per deployment, from the first look at it on. A hidden one keeps its input and draws nothing. */
function Deployments() {
  const served = useServeView((view) => view.status.deployments);
  const [selected, select] = useSelectedDeployment();
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set([selected]));
  const show = (name: string): void => {
    setVisited((known) => new Set([...known, name]));
    select(name);
  };
  const deployments = listDeployments(served.map(({ name }) => name));
  const tabs = deployments.map((name) => ({ id: name, title: titleOf(name) }));
  return (
    <>
      <SiteHeader status={<StatusChip />}>
        <TabList label="View" tabs={tabs} selected={selected} onSelect={show} />
      </SiteHeader>
      <main>
        <LoadFailure />
        {deployments
          .filter((name) => visited.has(name))
          .map((name) => (
            <Activity key={name} mode={name === selected ? 'visible' : 'hidden'}>
              {name === TEXT_GENERATOR ? (
                <TextView />
              ) : (
                <PanelBoundary name={titleOf(name)}>
                  <Suspense>
                    <DeploymentView name={name} isShown={name === selected} />
                  </Suspense>
                </PanelBoundary>
              )}
            </Activity>
          ))}
        {!deployments.includes(selected) && <UnknownDeployment name={selected} />}
      </main>
    </>
  );
}

/** Shown above all deployments: the others need no model and keep serving. */
function LoadFailure() {
  const error = useServeView((view) => (view.status.state === 'failed' ? view.status.error : undefined));
  return error && <FailurePanel error={error} what="the text generator" />;
}
