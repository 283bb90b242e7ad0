import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { ClientMessage } from '../../protocol/client-messages.ts';
import { isHeld, Leadership } from './leadership.ts';
import type { Link, LinkListener, Outgoing } from './link.ts';
import type { Locks } from '../../protocol/locks.ts';
import { type AppNames, namesOf } from '../../protocol/names.ts';
import { WorkerHost, type WorkerSource } from './worker-host.ts';
import { foreignWorkerVersion, parseWorkerMessage } from '../../protocol/worker-messages.ts';

/** The part of `window` that reports when the page is put away, and when it is taken out again. */
export type PageLifecycle = Pick<EventTarget, 'addEventListener'>;

export interface SharedLinkOptions {
  readonly clientId: ClientId;
  readonly host: WorkerSource;
  readonly locks: Locks;
  readonly page: PageLifecycle;
}

/** A page that is frozen, or kept for the back button, runs no code: it must not lead. */
const PUT_AWAY = ['freeze', 'pagehide'] as const;
const TAKEN_OUT = ['resume', 'pageshow'] as const;

/**
 * One worker for all tabs of the app. Every tab queues for the leader's lock, and the tab that holds it runs the worker.
 * Messages go over channels, so that no tab needs to know which one leads.
 */
export function openSharedLink(
  { clientId, host, locks, page }: SharedLinkOptions,
  listener: LinkListener,
): Link {
  const { createWorker, ...init } = host;
  const names = namesOf(init.app);
  const ownName = names.clientName(clientId);
  let isAsking = false;
  const closing = new AbortController();
  const { signal } = closing;
  const shared = new BroadcastChannel(names.sharedChannel);
  const own = new BroadcastChannel(ownName);
  const presence = Promise.withResolvers<void>();
  const workers = new WorkerHost({
    createWorker,
    init: { ...init, isShared: true },
    locks,
    page,
    onGiveUp(error) {
      // A worker may run in the next tab.
      leadership.resign();
      listener.onFailure(error);
    },
  });
  const leadership = new Leadership(locks, names.leaderLock, {
    onElected() {
      listener.onRole('leader');
      workers.start();
    },
    onResigned() {
      workers.stop();
      listener.onRole('follower');
    },
  });

  const receive = ({ data }: MessageEvent<unknown>): void => {
    const message = parseWorkerMessage(data);
    if (message) {
      listener.onMessage(message);
      return;
    }
    const foreign = foreignWorkerVersion(data);
    if (foreign !== undefined) void meetForeign(foreign);
  };
  const meetForeign = async (version: number): Promise<void> => {
    // A worker says it again and again.
    if (isAsking || leadership.hasYielded) return;
    isAsking = true;
    const isTrue = await isServing(version, locks, names).finally(() => (isAsking = false));
    if (!isTrue || signal.aborted) return;
    // The newer version goes on: it leads as soon as it can.
    if (version > PROTOCOL_VERSION) leadership.yieldTo(names.versionLock(version));
    listener.onForeignWorker(version);
  };
  const putAway = (): void => {
    listener.onPutAway();
    leadership.resign();
  };
  const contend = (): void => leadership.contend();

  shared.addEventListener('message', receive);
  own.addEventListener('message', receive);
  for (const type of PUT_AWAY) page.addEventListener(type, putAway, { capture: true, signal });
  for (const type of TAKEN_OUT) page.addEventListener(type, contend, { capture: true, signal });
  // Say nothing before the lock is held: a worker takes a tab without its lock for gone.
  void locks.request(ownName, () => {
    if (signal.aborted) return undefined;
    listener.onOpen();
    contend();
    return presence.promise;
  });

  return {
    isolationReason: '',
    post: (message: Outgoing) =>
      shared.postMessage({ version: PROTOCOL_VERSION, clientId, ...message } satisfies ClientMessage),
    close() {
      closing.abort();
      leadership.resign();
      presence.resolve();
      shared.close();
      own.close();
    },
  };
}

/** Whether a worker of another version serves. Any page of the origin can say so on the channel: the locks know. */
async function isServing(version: number, locks: Locks, names: AppNames): Promise<boolean> {
  if (version > PROTOCOL_VERSION) return isHeld(locks, names.versionLock(version));
  // The first versions hold no lock of their own, but one worker serves at a time.
  return !(await isHeld(locks, names.versionLock(PROTOCOL_VERSION)));
}
