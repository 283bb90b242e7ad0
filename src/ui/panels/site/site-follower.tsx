import { Serwist } from '@serwist/window';
import { createRoot } from 'react-dom/client';
import type { KeepMessage } from '../../../service-worker/keep-message.ts';
import { allowOwnScripts, type TabserveClient } from '../../../client/index.ts';
import { useEffect, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import './update-offer.css';

const KEY = 'tabserve-isolating';

/** The time from one check for a new version to the next in a tab in use, ms. The browser checks at each load of the page. */
const UPDATE_INTERVAL_MS = 3_600_000;

/** From the demand that the new version serve to a load of the page that reminds the browser of it, ms. */
const REMINDER_MS = 2000;

/** Keeps the page of a static host with its service worker: offline, isolated, and of one version in all tabs. */
export class SiteFollower {
  readonly #serve: TabserveClient | undefined;
  #isInUse = false;

  /** @param serve Left out for a page that could not start. */
  constructor(serve: TabserveClient | undefined) {
    this.#serve = serve;
  }

  /**
   * @param script Relative to the page.
   * @throws Error where the browser refuses service workers, as for a profile that stores nothing.
   */
  async follow(script: string): Promise<void> {
    allowOwnScripts();
    for (const type of ['pointerdown', 'keydown'])
      addEventListener(type, () => (this.#isInUse = true), { capture: true, once: true });
    const { serviceWorker } = navigator;
    const url = new URL(script, document.baseURI).href;
    const known = await serviceWorker.getRegistration(url);
    const wasServed = Boolean(known?.active);
    serviceWorker.addEventListener('controllerchange', () => {
      // One tab has taken the offer: tabs of two versions don't mix.
      if (wasServed) location.reload();
      else this.#isolate();
    });
    const site = new Serwist(url);
    site.addEventListener('waiting', () => this.#offer(site));
    await site.register({ immediate: true });
    this.#keepRuntime(await site.active);
    this.#checkForUpdates(site);
  }

  /**
   * The page loads once more, as the service worker serves it: with the headers that give WASM its threads. At most once per
   * tab, and never after the user has touched the page.
   */
  #isolate(): void {
    if (crossOriginIsolated || this.#isInUse) return;
    if (sessionStorage.getItem(KEY) !== null) return;
    sessionStorage.setItem(KEY, 'tried');
    location.reload();
  }

  #offer(site: Serwist): void {
    const root = createRoot(document.body.appendChild(document.createElement('div')));
    root.render(
      <UpdateOffer serve={this.#serve} onAccept={() => skipWaiting(site)} onDecline={() => root.unmount()} />,
    );
  }

  /** Keeps the files that the running model needs offline. */
  #keepRuntime(worker: ServiceWorker): void {
    let kept: string | undefined;
    this.#serve?.subscribe('status', ({ state, backend }) => {
      if (state !== 'ready' || !backend || backend.name === 'server' || backend.name === kept) return;
      kept = backend.name;
      worker.postMessage({ type: 'KEEP', backend: backend.name } satisfies KeepMessage);
    });
  }

  #checkForUpdates(site: Serwist): void {
    let last = performance.now();
    document.addEventListener('visibilitychange', () => {
      if (document.hidden || performance.now() - last < UPDATE_INTERVAL_MS) return;
      last = performance.now();
      // Offline: the next check finds it.
      site.update().catch(() => undefined);
    });
  }
}

/**
 * Chromium may ignore `skipWaiting` for minutes while the old worker starts or is busy, however often it is repeated. It looks again when
 * a page loads.
 */
function skipWaiting(site: Serwist): void {
  site.messageSkipWaiting();
  setTimeout(() => location.reload(), REMINDER_MS);
}

interface UpdateOfferProps {
  /** Left out for a page that could not start. */
  readonly serve: TabserveClient | undefined;
  /** Every open tab of the page reloads then. */
  readonly onAccept: () => void;
  readonly onDecline: () => void;
}

function UpdateOffer({ serve, onAccept, onDecline }: UpdateOfferProps) {
  const [isAccepted, setIsAccepted] = useState(false);
  const [numTabs, setNumTabs] = useState(1);
  useEffect(() => serve?.subscribe('status', (status) => setNumTabs(status.numTabs)), [serve]);
  const accept = (): void => {
    setIsAccepted(true);
    onAccept();
  };
  return (
    <output className="floating-note update-offer row">
      <span>A new version is ready.</span>
      <Button variant="primary" disabled={isAccepted} onClick={accept}>
        {numTabs > 1 ? `Reload ${numTabs} tabs` : 'Reload'}
      </Button>
      <Button variant="quiet" onClick={onDecline}>
        Later
      </Button>
    </output>
  );
}
