import { CannotFollowError } from '../../protocol/errors/tabs.ts';
import type { Link, LinkListener } from './link.ts';
import { SharedLink, type SharedLinkOptions } from './shared-link.ts';
import { openSoloLink, type SoloLinkOptions } from './solo-link.ts';

type OpenLinkOptions = Omit<SoloLinkOptions, 'page' | 'reason'> & Pick<SharedLinkOptions, 'canLead'>;

/**
 * Opens a link to the site's shared worker if the browser can share one, else to a worker for this tab alone.
 *
 * @throws CannotFollowError if this tab may not have a worker of its own.
 */
export function openLink({ canLead, ...options }: OpenLinkOptions, listener: LinkListener): Link {
  const missing = missingPlatformParts().join(' and no ');
  if (missing === '')
    return new SharedLink({ ...options, canLead, locks: navigator.locks, page: globalThis }, listener);
  if (!canLead) throw CannotFollowError.without(missing);
  const reason = `This tab runs its own worker: the browser offers no ${missing} on this page.`;
  return openSoloLink({ ...options, page: globalThis, reason }, listener);
}

/** Web Locks exist only in secure contexts: over HTTPS, or from localhost. */
function missingPlatformParts(): string[] {
  return [
    ...('BroadcastChannel' in globalThis ? [] : ['BroadcastChannel']),
    ...('locks' in navigator ? [] : ['Web Locks']),
  ];
}
