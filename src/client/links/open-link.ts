import { CannotFollowError } from '../../protocol/errors/tabs.ts';
import type { Link, LinkListener, Outgoing } from './link.ts';
import { SharedLink, TurnOutbox, type SharedLinkOptions } from './shared-link.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import { WorkerHost } from './worker-host.ts';
import { parseWorkerMessage } from '../../protocol/worker-messages.ts';

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

interface SoloLinkOptions extends Pick<SharedLinkOptions, 'clientId' | 'host' | 'page'> {
  /** Why this tab cannot share a worker. */
  readonly reason: string;
}

/** A worker for this tab alone, over its own port. */
export function openSoloLink(
  { clientId, host, page, reason }: SoloLinkOptions,
  listener: LinkListener,
): Link {
  const { createWorker, ...init } = host;
  const workers = new WorkerHost({
    createWorker,
    init: { ...init, isShared: false },
    tabs: () => listener.tabNumbers,
    page,
    onMessage(data) {
      const message = parseWorkerMessage(data);
      if (!message) return;
      if (message.type === 'serving') listener.onOpen();
      else listener.onMessage(message);
    },
    onGiveUp: (error) => listener.onFailure(error),
  });
  const outbox = new TurnOutbox((data) => workers.post(data));
  queueMicrotask(() => listener.onRole('leader'));
  workers.start();
  return {
    isolationReason: reason,
    post: (message: Outgoing) => outbox.post({ version: PROTOCOL_VERSION, clientId, ...message }),
    close: () => workers.stop(),
  };
}
