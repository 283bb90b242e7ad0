import { Activity, lazy, Suspense, useMemo, useState, type ReactNode } from 'react';

import { TEXT_GENERATOR, type TabserveClient } from '../client/index.ts';
import './app.css';
import { ComposerContext } from './state/composer/composer-context.ts';
import type { Composer } from './state/composer/composer.ts';
import { FailurePanel } from './panels/header/failure-panel.tsx';
import { SiteHeader } from './panels/header/site-header.tsx';
import { StatusChip } from './panels/header/status-chip.tsx';
import { PanelBoundary } from './parts/panel-boundary.tsx';
import { ServeContext, useServeView } from './state/serve-context.ts';
import type { ServeStore } from './state/serve-store.ts';
import { TabList } from './parts/tab-list.tsx';
import { TextView } from './views/text/text-view.tsx';
import { listViews, titleOf, useSelectedView, VIEWS, type ViewProps } from './views/views.ts';

/** Loaded after the first screen. */
const CONTENTS = new Map(VIEWS.flatMap(({ id, load }) => (load ? [[id, lazy(load)] as const] : [])));
const DeploymentView = lazy(async () => ({
  default: (await import('./views/deployment/deployment-view.tsx')).DeploymentView,
}));
const HandoverNote = lazy(async () => ({
  default: (await import('./panels/header/handover-note.tsx')).HandoverNote,
}));
const UnknownDeployment = lazy(async () => ({
  default: (await import('./views/deployment/unknown-deployment.tsx')).UnknownDeployment,
}));

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
  const handover = useServeView(({ handover: last, status }) => {
    const isNews = last && (last.requestIds.size > 0 || status.loadFailure?.error.code === 'MODEL_DELETED');
    return isNews && status.state === 'ready' ? last : undefined;
  });
  const [selected, select] = useSelectedView();
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set([selected]));
  if (!visited.has(selected)) setVisited(new Set([...visited, selected]));
  const views = listViews(served.map(({ name }) => name));
  const tabs = views.map((name) => ({ id: name, title: titleOf(name) }));
  return (
    <>
      <SiteHeader status={<StatusChip />}>
        <TabList label="View" tabs={tabs} selected={selected} onSelect={select} />
      </SiteHeader>
      <Suspense>{handover && <HandoverNote handover={handover} />}</Suspense>
      <main>
        <LoadFailure />
        {views
          .filter((name) => visited.has(name))
          .map((name) => (
            <Activity key={name} mode={name === selected ? 'visible' : 'hidden'}>
              <View name={name} isShown={name === selected} />
            </Activity>
          ))}
        {!views.includes(selected) && (
          <PanelBoundary name={selected}>
            <UnknownDeployment name={selected} />
          </PanelBoundary>
        )}
      </main>
    </>
  );
}

function View({ name, isShown }: ViewProps) {
  if (name === TEXT_GENERATOR) return <TextView />;
  return <PanelBoundary name={titleOf(name)}>{contentOf({ name, isShown })}</PanelBoundary>;
}

function contentOf(props: ViewProps): ReactNode {
  const Content = CONTENTS.get(props.name) ?? DeploymentView;
  return <Content {...props} />;
}

/** Shown above all views: the other deployments need no model and keep serving. */
function LoadFailure() {
  const error = useServeView((view) => (view.status.state === 'failed' ? view.status.error : undefined));
  return error && <FailurePanel error={error} what="the text generator" />;
}
