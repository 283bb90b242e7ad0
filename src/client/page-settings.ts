import { BRIDGE_META, HUB_META, LOCAL_MODEL_META, SERVER_META } from '../protocol/bridge-names.ts';

/** The hub that the page's server was started with. */
export function hubOfPage(): string | undefined {
  return metaOf(HUB_META)?.content;
}

/** The hub and the revision of a model on the disk of the page's server; undefined for any other. */
export function localModelOfPage(
  id: string,
): { readonly hub: string; readonly revision: string } | undefined {
  if (!('document' in globalThis)) return undefined;
  for (const { content } of document.querySelectorAll<HTMLMetaElement>(`meta[name="${LOCAL_MODEL_META}"]`)) {
    const [local, revision] = content.split('@');
    if (local === id && revision) return { hub: location.origin, revision };
  }
  return undefined;
}

/**
 * The folder of the bridge that serves the page; undefined if another server does.
 *
 * @internal
 */
export function bridgeOfPage(): string | undefined {
  const folder = metaOf(BRIDGE_META)?.content;
  return folder === undefined ? undefined : new URL(folder, document.baseURI).href;
}

/**
 * The server that the bridge was started with, as its address and `data-model`; null if the model runs in the tab. The page's address cannot
 * set it, so that no link makes a page send prompts elsewhere.
 */
export function serverOfPage(): HTMLMetaElement | null {
  return metaOf(SERVER_META);
}

/** The server writes settings into the page as `meta` elements. */
function metaOf(name: string): HTMLMetaElement | null {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`);
}
