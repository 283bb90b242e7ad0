import type { Link, LinkListener } from './link.ts';
import { SharedLink } from './shared-link.ts';
import { openSoloLink, type SoloLinkOptions } from './solo-link.ts';

/** Opens a link to the site's shared worker if the browser can share one, else to a worker for this tab alone. */
export function openLink(options: Omit<SoloLinkOptions, 'page' | 'reason'>, listener: LinkListener): Link {
  const missing = missingPlatformParts();
  if (missing.length === 0) {
    return new SharedLink({ ...options, locks: navigator.locks, page: globalThis }, listener);
  }
  const reason = `This tab runs its own worker: the browser offers no ${missing.join(' and no ')} on this page.`;
  return openSoloLink({ ...options, page: globalThis, reason }, listener);
}

/** Web Locks exist only in secure contexts: over HTTPS, or from localhost. */
function missingPlatformParts(): string[] {
  return [
    ...('BroadcastChannel' in globalThis ? [] : ['BroadcastChannel']),
    ...('locks' in navigator ? [] : ['Web Locks']),
  ];
}
