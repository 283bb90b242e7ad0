import { HUB_META } from '../protocol/bridge-names.ts';

/** The hub of a page: `?hub=` of its address, which its policy has to allow; else the hub that its server was started with. */
export function hubOfPage(): string | undefined {
  const marked = document.querySelector<HTMLMetaElement>(`meta[name="${HUB_META}"]`)?.content;
  return new URLSearchParams(location.search).get('hub') ?? marked;
}
