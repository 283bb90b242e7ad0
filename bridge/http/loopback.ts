import { BlockList, isIP } from 'node:net';

/** Matches IPv4-mapped IPv6 addresses as IPv4. */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

export function isLoopbackAddress(text: string): boolean {
  const version = isIP(text);
  return version !== 0 && LOOPBACK.check(text, version === 6 ? 'ipv6' : 'ipv4');
}

/** Browsers take pages of these hosts for secure ones, over HTTP too. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host);
}
