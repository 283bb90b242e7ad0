import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { Link, LinkListener, Outgoing } from './link.ts';
import type { SharedLinkOptions } from './shared-link.ts';
import { TurnOutbox } from './turn-outbox.ts';
import { WorkerHost } from './worker-host.ts';
import { parseWorkerMessage } from '../../protocol/worker-messages.ts';

export interface SoloLinkOptions extends Pick<SharedLinkOptions, 'clientId' | 'host' | 'page'> {
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
