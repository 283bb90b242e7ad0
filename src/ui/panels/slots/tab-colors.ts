import type { ClientId } from '../../../client/index.ts';

const OTHER_TABS = ['--tab-1', '--tab-2', '--tab-3', '--tab-4', '--tab-5'] as const;

const known = new Map<ClientId, `--${string}`>();

/** One color for this tab and one for all HTTP clients. Other tabs share the colors around, and each keeps its own while the page is open. */
export function tabColor(clientId: ClientId | undefined, isHttp = false): `--${string}` {
  if (clientId === undefined) return '--accent';
  if (isHttp) return '--tab-http';
  const color = known.get(clientId) ?? OTHER_TABS[known.size % OTHER_TABS.length] ?? '--tab-1';
  known.set(clientId, color);
  return color;
}
