import type { IncomingMessage, ServerResponse } from 'node:http';

import { SERVICE_WORKER_FILE } from './static-host-meta.ts';

/**
 * Takes the place of a service worker that a static host of the same origin has installed, such as `vite preview` on this port:
 * it would keep serving its own page, which does not know the bridge. Removes its files and itself, and loads the open pages again. It
 * claims them first: a page that was still starting when this one became active has no service worker, and registers it again.
 *
 * One call of `skipWaiting` isn't enough: Chromium forgets it where the old service worker is busy at that moment, and at times all calls
 * of the first minute. Then the page offers a new version, and a message accepts it.
 */
const SCRIPT = `let retry;
self.addEventListener('install', () => (retry = setInterval(() => self.skipWaiting(), 250)));
self.addEventListener('message', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(retire()));
async function retire() {
  clearInterval(retry);
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
