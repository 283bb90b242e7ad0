import type { Link, LinkListener } from './link.ts';
import { openSharedLink, type SharedLinkOptions } from './shared-link.ts';
import { openSoloLink } from './solo-link.ts';

type LinkOptions = Pick<SharedLinkOptions, 'clientId' | 'host'>;

/** A link to the worker of the site where the browser can share it, else to one of this tab's own. */
export function openLink(options: LinkOptions, listener: LinkListener): Link {
  const missing = missingPlatformParts();
  if (missing.length === 0) {
    return openSharedLink({ ...options, locks: navigator.locks, page: globalThis }, listener);
  }
  const reason = `This browser has no ${missing.join(' and no ')} here: this tab runs a worker of its own.`;
  return openSoloLink({ ...options, reason }, listener);
}

/** Web Locks exist in secure contexts only: over HTTPS, or from localhost. */
function missingPlatformParts(): string[] {
  return [
    ...('BroadcastChannel' in globalThis ? [] : ['BroadcastChannel']),
    ...('locks' in navigator ? [] : ['Web Locks']),
  ];
}
