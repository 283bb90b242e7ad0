import { Activity, lazy, Suspense, useMemo } from 'react';

import type { Serve } from '../worker/client/client.ts';
import { TEXT_GENERATOR } from '../worker/protocol/generation.ts';
import './app.css';
import { ComposePanel } from './compose/compose-panel.tsx';
import { ComposerContext } from './compose/composer-context.ts';
import type { Composer } from './compose/composer.ts';
import { OptionsPanel } from './compose/options-panel.tsx';
import { DeploymentView } from './deployments/deployment-view.tsx';
import { listDeployments, titleOf, useSelectedDeployment } from './deployments/selected-deployment.ts';
import { UnknownDeployment } from './deployments/unknown-deployment.tsx';
import { FailurePanel } from './header/failure-panel.tsx';
import { SiteHeader } from './header/site-header.tsx';
import { StateFacts } from './header/state-facts.tsx';
import { PolicyPanel } from './policy/policy-panel.tsx';
import { PanelBoundary } from './panel-boundary.tsx';
import { Stage } from './stage/stage.tsx';
import { ServeContext, useIsUpstream, useServeView } from './state/serve-context.ts';
import type { ServeStore } from './state/serve-store.ts';
import { TabList, TabPanel } from './tab-list.tsx';

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
        <SiteHeader>
          <StateFacts />
        </SiteHeader>
        <main>
          <LoadFailure />
          <Deployments />
        </main>
      </ComposerContext>
    </ServeContext>
  );
}

/** One view per deployment. A hidden one keeps its input and draws nothing. */
function Deployments() {
  const served = useServeView((view) => view.status.deployments);
  const [selected, select] = useSelectedDeployment();
  const deployments = listDeployments(served.map(({ name }) => name));
  const tabs = deployments.map((name) => ({ id: name, title: titleOf(name) }));
  return (
    <>
      <TabList label="Deployment" tabs={tabs} selected={selected} onSelect={select} />
      {deployments.map((name) => (
        <Activity key={name} mode={name === selected ? 'visible' : 'hidden'}>
          {name === TEXT_GENERATOR ? (
            <TextGeneratorView />
          ) : (
            <PanelBoundary name={titleOf(name)}>
              <DeploymentView name={name} isShown={name === selected} />
            </PanelBoundary>
          )}
        </Activity>
      ))}
      {!deployments.includes(selected) && <UnknownDeployment name={selected} />}
    </>
  );
}

const ModelsPanel = lazy(async () => ({ default: (await import('./models/models-panel.tsx')).ModelsPanel }));

/** Loaded after the page. With an upstream there is no model to choose. */
function Models() {
  const isUpstream = useIsUpstream();
  return (
    !isUpstream && (
      <Suspense>
        <ModelsPanel />
      </Suspense>
    )
  );
}

const RAIL = [
  ['Playground', ComposePanel],
  ['Batching policy', PolicyPanel],
  ['Generation options', OptionsPanel],
  ['Models', Models],
] as const;

function TextGeneratorView() {
  return (
    <TabPanel id={TEXT_GENERATOR} className="workspace">
      <div className="rail">
        {RAIL.map(([name, Content]) => (
          <PanelBoundary key={name} name={name}>
            <Content />
          </PanelBoundary>
        ))}
      </div>
      <Stage />
    </TabPanel>
  );
}

/** Shown above all deployments: the others need no model and keep serving. */
function LoadFailure() {
  const error = useServeView((view) => (view.status.state === 'failed' ? view.status.error : undefined));
  return error && <FailurePanel error={error} what="The text generator" />;
}
