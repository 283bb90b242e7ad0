import { CacheFirst, Serwist, type PrecacheEntry, type SerwistPlugin } from 'serwist';

import { withIsolation } from './isolation.ts';
import { isKeepMessage, type KeepMessage } from './keep-message.ts';
import { LargeFiles, splitFiles } from './large-files.ts';

// Serves the page of a static host: from its caches, isolated, each version as a whole.

declare const self: ServiceWorkerGlobalScope & {
  /** The page's files, which the build writes here. */
  readonly pageFiles: readonly PrecacheEntry[];
};

const { small, large } = splitFiles(self.pageFiles);
const largeFiles = new LargeFiles(large, self.registration.scope);

const isolate: SerwistPlugin = { handlerWillRespond: async ({ response }) => withIsolation(response) };

/** Files that the page has just loaded are not downloaded twice: the host confirms the browser's copy. */
const revalidate: SerwistPlugin = {
  requestWillFetch: async ({ request }) =>
    request.cache === 'reload' ? new Request(request, { cache: 'no-cache' }) : request,
};

const underRevision: SerwistPlugin = {
  cacheKeyWillBeUsed: async ({ request }) => largeFiles.keyOf(request.url) ?? request,
};

const serveLarge = new CacheFirst({
  cacheName: `tabserve-large-${self.registration.scope}`,
  plugins: [underRevision, isolate],
});

const serwist = new Serwist({
  precacheEntries: small,
  precacheOptions: {
    cacheName: `tabserve-page-${self.registration.scope}`,
    cleanURLs: false,
    // The page's own parameters, such as `?backend=wasm`, are read by its script.
    ignoreURLParametersMatching: [/./],
    plugins: [revalidate, isolate],
  },
  // A new version waits until a tab asks for it; then it serves all tabs, and each reloads.
  skipWaiting: false,
  clientsClaim: true,
  runtimeCaching: [{ matcher: ({ url }) => largeFiles.keyOf(url.href) !== undefined, handler: serveLarge }],
});

self.addEventListener('message', (event) => {
  if (isKeepMessage(event.data)) event.waitUntil(keep(event, event.data));
});
self.addEventListener('activate', (event) => event.waitUntil(removeOutdated()));
serwist.addEventListeners();

/** Stores what is missing, from the browser's own cache where the page has just loaded it. */
async function keep(event: ExtendableEvent, { backend }: KeepMessage): Promise<void> {
  await Promise.all(
    largeFiles
      .neededFor(backend)
      .flatMap((address) => serveLarge.handleAll({ event, request: new Request(address) })),
  );
}

/** Removes the large files that only earlier versions need. */
async function removeOutdated(): Promise<void> {
  const cache = await caches.open(serveLarge.cacheName);
  const keys = await cache.keys();
  await Promise.all(keys.filter(({ url }) => !largeFiles.hasKey(url)).map((key) => cache.delete(key)));
}
