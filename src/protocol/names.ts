import { InvalidOptionError } from '../batching/base/errors.ts';
import { createId, type ClientId } from './ids.ts';

/** Names of locks, channels and storage that all tabs of one app share. Apps of one origin with different names never meet. */
export interface AppNames {
  /** Channel of all tabs and the worker. Messages to a single tab go over that tab's own channel. */
  readonly sharedChannel: string;
  /** Channel on which a tab that waits in vain asks whether the leader's process runs: `ASK`, then `ALIVE`. */
  readonly livenessChannel: string;
  /** Held by the leading tab. */
  readonly leaderLock: string;
  /** Held by the current worker, whose ID is the one that the browser gives to the holder. */
  readonly workerLock: string;
  /** Also held by the current worker. It proves to tabs of other versions that a worker of this version serves. */
  readonly versionLock: (version: number) => string;
  readonly isVersionLock: (lockName: string) => boolean;
  /** Folder of the site's storage that holds models. */
  readonly storageFolder: string;
  /** Item of the page's storage with the lock of the last worker that its tab has ended by itself. */
  readonly leftItem: string;
  /** Names a lock that one worker holds until it ends. The tab that made the worker queues for it. */
  readonly createLifeName: () => string;
  /** Whether a lock has a name of `createLifeName`. */
  readonly isLifeName: (lockName: string) => boolean;
  /** Names the channel to one tab, and the lock that this tab holds for life. */
  readonly clientName: (clientId: ClientId) => string;
}

/** On the channel of liveness: asks, and is answered by the leading page and its worker. Either of them may be busy. */
export const ASK = 'ask';
export const ALIVE = 'alive';

/** Short enough that every name that contains it fits in `MAX_NAME_LENGTH`. */
const APP = /^[\w-]{1,32}$/;

/**
 * Only `versionLock` contains the protocol's version: tabs of two versions share one leader.
 *
 * @param app Left out: the app of this origin that has no name.
 */
export function namesOf(app?: string): AppNames {
  const root = app === undefined ? 'tabserve' : `tabserve.${app}`;
  return {
    sharedChannel: root,
    livenessChannel: `${root}:liveness`,
    leaderLock: `${root}:leader`,
    workerLock: `${root}:worker`,
    versionLock: (version) => `${root}:version:${version}`,
    isVersionLock: (lockName) => lockName.startsWith(`${root}:version:`),
    storageFolder: root,
    leftItem: `${root}:left`,
    createLifeName: () => `${root}:worker:${createId()}`,
    isLifeName: (lockName) => lockName.startsWith(`${root}:worker:`),
    clientName: (clientId) => `${root}:client:${clientId}`,
  };
}

/** @throws InvalidOptionError. */
export function checkAppName(app: unknown): void {
  if (typeof app !== 'string' || !APP.test(app))
    throw InvalidOptionError.of('name', '1 to 32 letters, digits, hyphens or underscores', app);
}
