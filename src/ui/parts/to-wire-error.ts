import type { WireError } from '../../client/index.ts';

/** Errors of parts of the page that failed to load. */
const missingParts = new WeakSet<Error>();

/** Vite reports each failed import before it rejects. */
export function watchMissingParts(page: Pick<EventTarget, 'addEventListener'>): void {
  page.addEventListener('vite:preloadError', (event) => {
    if ('payload' in event && event.payload instanceof Error) missingParts.add(event.payload);
  });
}

export function toWireError(caught: unknown): WireError {
  if (!(caught instanceof Error)) return { code: 'UNKNOWN', message: String(caught) };
  if (missingParts.has(caught)) {
    const message =
      'Couldn’t load a part of this page. The device is offline, or the page has a new version. Reload the page.';
    return { code: 'PAGE_OUTDATED', message };
  }
  const code = 'code' in caught && typeof caught.code === 'string' ? caught.code : caught.name;
  return { code, message: caught.message };
}
