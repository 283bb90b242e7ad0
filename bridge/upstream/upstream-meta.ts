import type { UpstreamOptions } from './upstream-client.ts';

/** The element that makes the page use the upstream; `upstreamOfPage` reads it. */
export function upstreamMeta({ url, model }: UpstreamOptions): string {
  const named = model === undefined ? '' : ` data-model="${escapeAttribute(model)}"`;
  return `<meta name="tabserve-upstream" content="${escapeAttribute(url)}"${named} />`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
