// Elements that the build writes into the page's head for a static host, which sends no headers of its own.

/** An attribute of each of them. A server that sends the headers removes them. */
const ATTRIBUTE = 'data-static-host';

/** Below the folder of the page. */
export const SERVICE_WORKER_FILE = 'service-worker.js';

/** Attributes of a `meta` element for a static host. */
export function staticHostMeta(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return { ...attributes, [ATTRIBUTE]: '' };
}

const ELEMENTS = new RegExp(String.raw`\s*<meta\b[^>]*\s${ATTRIBUTE}\b[^>]*>`, 'g');

export function withoutStaticHostMeta(markup: string): string {
  return markup.replaceAll(ELEMENTS, '');
}
