import { Activity, lazy, Suspense, useMemo, useState, type ReactNode } from 'react';

import { TEXT_GENERATOR, type TabserveClient } from '../client/index.ts';
import './app.css';
import { ComposerContext } from './state/composer/composer-context.ts';
import type { Composer } from './state/composer/composer.ts';
import { Failure } from './panels/header/failure.tsx';
import { SiteHeader } from './panels/header/site-header.tsx';
import { StatusChip } from './panels/header/status-chip.tsx';
import { PanelBoundary } from './parts/panel-boundary.tsx';
import { ServeContext, useIsServer, useServeView } from './state/serve-context.ts';
import { numberOfThis } from './state/sender.ts';
import type { ServeStore } from './state/serve-store.ts';
import { TabList } from './parts/tab-list.tsx';
import { TextView } from './views/text/text-view.tsx';
import {
  DEPLOYMENTS,
  listDeployments,
  tabOf,
  titleOf,
  unknownViewIn,
  useSelectedView,
  VIEWS,
  type ViewProps,
} from './views/views.ts';

/** Loaded after the first screen. */
const CONTENTS = new Map(VIEWS.flatMap(({ id, load }) => (load ? [[id, lazy(load)] as const] : [])));
const DeploymentsView = lazy(async () => ({
  default: (await import('./views/deployment/deployments-view.tsx')).DeploymentsView,
}));
const TabNews = lazy(async () => ({ default: (await import('./panels/header/tab-news.tsx')).TabNews }));

const TABS_AT_SERVER = VIEWS.filter(({ needsWorker }) => !needsWorker);
const TABS = [...VIEWS, { id: DEPLOYMENTS, title: titleOf(DEPLOYMENTS) }];

interface AppProps {
  readonly serve: TabserveClient;
  readonly store: ServeStore;
  readonly composer: Composer;
}

export function App({ serve, store, composer }: AppProps) {
  const context = useMemo(() => ({ serve, store }), [serve, store]);
  return (
    <ServeContext value={context}>
      <ComposerContext value={composer}>
        <Views />
      </ComposerContext>
    </ServeContext>
  );
}

/** A view is mounted when it is first shown. A hidden one keeps its input and draws nothing. */
function Views() {
  const served = useServeView((view) => view.status.deployments);
  const hasNews = useServeView(
    ({ handover, status }) => handover !== undefined || numberOfThis(status.tabs) !== undefined,
  );
  const [selected, select] = useSelectedView();
  const unknownView = unknownViewIn(location.search);
  const tabs = useIsServer() ? TABS_AT_SERVER : TABS;
  const tab = tabs.find(({ id }) => id === tabOf(selected))?.id ?? TEXT_GENERATOR;
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set([tab]));
  if (!visited.has(tab)) setVisited(new Set([...visited, tab]));
  const deployments = listDeployments(served.map(({ name }) => name));
  const [lastDeployment, setLastDeployment] = useState(selected);
  if (tab === DEPLOYMENTS && lastDeployment !== selected) setLastDeployment(selected);
  const shownDeployment = tabOf(lastDeployment) === DEPLOYMENTS ? lastDeployment : (deployments[0] ?? '');
  return (
    <>
      <SiteHeader status={<StatusChip />}>
        <TabList
          label="View"
          tabs={tabs}
          selected={tab}
          onSelect={(id, isPassing) => select(id === DEPLOYMENTS ? shownDeployment : id, isPassing)}
        />
      </SiteHeader>
      <Suspense>{hasNews && <TabNews />}</Suspense>
      <main>
        <LoadFailure />
        {unknownView && (
          <p className="error-line" role="alert">
            No view has the name “{unknownView}” of the address. This is {titleOf(selected)}.
          </p>
        )}
        {tabs
          .filter(({ id }) => visited.has(id))
          .map(({ id, title }) => (
            <Activity key={id} mode={id === tab ? 'visible' : 'hidden'}>
              {id === DEPLOYMENTS ? (
                <PanelBoundary name={title}>
                  <DeploymentsView
                    names={deployments}
                    name={shownDeployment}
                    isShown={id === tab}
                    onChoose={(name) => select(name, false)}
                  />
                </PanelBoundary>
              ) : (
                <View name={id} isShown={id === tab} />
              )}
            </Activity>
          ))}
      </main>
    </>
  );
}

function View({ name, isShown }: ViewProps) {
  if (name === TEXT_GENERATOR) return <TextView />;
  return <PanelBoundary name={titleOf(name)}>{contentOf({ name, isShown })}</PanelBoundary>;
}

function contentOf(props: ViewProps): ReactNode {
  const Content = CONTENTS.get(props.name);
  return Content && <Content {...props} />;
}

/** Shown above all views: the other deployments need no model and keep serving. */
function LoadFailure() {
  const error = useServeView((view) => (view.status.state === 'failed' ? view.status.error : undefined));
  return error && <Failure error={error} what="the text generator" />;
}
