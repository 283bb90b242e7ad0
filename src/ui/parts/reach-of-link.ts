/** What to say behind a copied link: empty where others can open it. */
export function reachOfLink(): string {
  const { hostname } = location;
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  return isLoopback ? ' It opens on this machine only.' : '';
}
