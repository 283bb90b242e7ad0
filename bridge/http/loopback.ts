import { BlockList, isIP } from 'node:net';

/** A peer of IPv4 on a socket of IPv6 is looked up as what it is. */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** False for what is no address. */
export function isLoopbackAddress(text: string): boolean {
  const version = isIP(text);
  return version !== 0 && LOOPBACK.check(text, version === 6 ? 'ipv6' : 'ipv4');
}

/** Of such a name or address browsers take a page for a secure one, over HTTP too. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host);
}
