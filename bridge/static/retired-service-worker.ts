import type { IncomingMessage, ServerResponse } from 'node:http';

import { SERVICE_WORKER_FILE } from './static-host-meta.ts';

/**
 * Takes the place of a service worker that a static host of the same origin has installed, such as `vite preview` on this port:
 * it would keep serving its own page, which does not know the bridge. Removes its files and itself, and loads the open pages again. It
 * claims them first: a page that was still starting when this one became active has no service worker, and registers it again.
 *
 * Chromium forgets a call of `skipWaiting` where the old service worker is busy at that moment. Only the first call after the installation
 * makes it look again, so that one comes when the page has loaded. After that, only another load of the page does: the page offers a new
 * version, and loads again.
 */
const SCRIPT = `self.addEventListener('install', () => {
  self.skipWaiting();
  setTimeout(() => self.skipWaiting(), 3000);
});
self.addEventListener('message', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(retire()));
async function retire() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith('tabserve-')).map((name) => caches.delete(name)));
  await self.clients.claim();
  await self.registration.unregister();
  const pages = await self.clients.matchAll({ type: 'window' });
  for (const page of pages) page.navigate(page.url).catch(() => undefined);
}
`;

export function isServiceWorker({ url = '/' }: Pick<IncomingMessage, 'url'>): boolean {
  return url.split('?', 1)[0] === `/${SERVICE_WORKER_FILE}`;
}

export function retireServiceWorker(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/javascript;charset=utf-8', 'Cache-Control': 'no-cache' });
  response.end(SCRIPT);
}
