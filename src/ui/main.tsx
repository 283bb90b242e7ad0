import { startTransition, StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';

import { connect, type TabserveClient, type WireError } from '../client/index.ts';
import type { deployments, PageDeployments } from '../deployments/registry.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/fields.css';
import './styles/parts.css';
import { App } from './app.tsx';
import { Composer } from './state/composer/composer.ts';
import { createWorker } from './create-worker.ts';
import { parseBackendChoice } from './panels/models/backend-choice.ts';
import { Failure } from './panels/header/failure.tsx';
import { SiteHeader } from './panels/header/site-header.tsx';
import { readPermalink } from './state/permalink.ts';
import { afterPaint } from './browser/after-paint.ts';
import { connectStore } from './state/serve-store.ts';
import { connectOptionsOf } from './panels/models/connect-options.ts';
import { noteStartTime } from './panels/compose/start-times.ts';
import { toWireError, watchMissingParts } from './parts/to-wire-error.ts';

declare global {
  interface Window {
    /** The page's client, for the console and for tests. */
    tabserve?: TabserveClient<PageDeployments>;
  }
}

function findRoot(): HTMLElement {
  const element = document.querySelector<HTMLElement>('#root');
  if (!element) throw new Error('index.html needs an element with the id "root".');
  return element;
}

function renderFailure(root: Root, error: WireError): void {
  root.render(
    <>
      <SiteHeader />
      <main>
        <Failure error={error} />
      </main>
    </>,
  );
}

/** Follows a link that is pasted into the address of the open page, which reloads nothing by itself. */
function followAddress(composer: Composer): void {
  window.addEventListener('hashchange', () => {
    const { prompt, texts, load, chat, template } = readPermalink(location.hash);
    // These are read once, when their view begins.
    if ([load, chat, template].some((part) => part !== undefined)) location.reload();
    else if (prompt !== undefined) composer.restore(prompt, texts, location.hash);
  });
}

/** Resolves with the page's client, or with undefined where the page shows why there is none. */
async function start(root: Root): Promise<TabserveClient<PageDeployments> | undefined> {
  const { backend, error } = parseBackendChoice(location.search);
  if (error) {
    renderFailure(root, error);
    return undefined;
  }
  try {
    const serve = await connect<typeof deployments>({
      worker: createWorker,
      backend,
      ...connectOptionsOf(location.search),
    });
    window.tabserve = serve;
    const store = connectStore(serve);
    noteStartTime(store);
    const composer = new Composer(serve, store, location.hash);
    followAddress(composer);
    await locksGranted().catch(() => undefined);
    // In pieces, between which this thread has the worker's script start.
    startTransition(() =>
      root.render(
        <StrictMode>
          <App serve={serve} store={store} composer={composer} />
        </StrictMode>,
      ),
    );
    return serve;
  } catch (caught) {
    renderFailure(root, toWireError(caught));
    return undefined;
  }
}

/** Only a page of a static host names a service worker. A page that could not start follows too: it may need the next version. */
async function followSite(serve: TabserveClient | undefined): Promise<void> {
  const script = document.querySelector<HTMLMetaElement>('meta[name="tabserve-service-worker"]')?.content;
  if (script === undefined || !('serviceWorker' in navigator)) return;
  await afterPaint();
  const { SiteFollower } = await import('./panels/site/site-follower.tsx');
  await new SiteFollower(serve).follow(script);
}

/**
 * Resolves once the tab has its own lock and then the leader's, if they are free: the browser answers in order. The tab that leads starts the
 * worker, which would else wait until this thread has drawn the page. Rejects where there are no locks.
 */
async function locksGranted(): Promise<void> {
  await navigator.locks.query();
  await navigator.locks.query();
}

/** Not needed for the first screen, so a page that can't load them goes on without. */
async function explainTerms(): Promise<void> {
  await afterPaint();
  const { showTerms } = await import('./parts/show-terms.ts');
  showTerms();
}

watchMissingParts(window);
const serve = await start(createRoot(findRoot()));
// Not awaited: what it imports waits for this module. Without the service worker the page needs the network, and nothing else.
followSite(serve).catch(() => undefined);
explainTerms().catch(() => undefined);
