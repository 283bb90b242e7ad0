import type { UpstreamOptions } from './upstream-options.ts';

/** The page with a mark that tells it to ask the upstream, in the place where `upstreamOfPage` looks for it. */
export function markPage(html: string, { url, model }: UpstreamOptions): string {
  const named = model === undefined ? '' : ` data-model="${escapeAttribute(model)}"`;
  const mark = `<meta name="tabserve-upstream" content="${escapeAttribute(url)}"${named} />`;
  return html.replace('</head>', () => `  ${mark}\n  </head>`);
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
