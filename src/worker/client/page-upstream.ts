import type { UpstreamInit } from '../protocol/protocol.ts';

/**
 * What the bridge has written into the page that it serves: nothing where the model runs in the tab. The page's address has no
 * say in it, so that no link makes a page send prompts anywhere.
 */
export function upstreamOfPage(): UpstreamInit | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="tabserve-upstream"]');
  if (!meta?.content) return undefined;
  const { model } = meta.dataset;
  return { url: meta.content, ...(model !== undefined && { model }) };
}
