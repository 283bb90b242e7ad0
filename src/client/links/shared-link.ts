import { MAX_TOGETHER, PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { ClientMessage, ClientMessages } from '../../protocol/client-messages.ts';
import type { ClientId, WorkerId } from '../../protocol/ids.ts';
import { systemClock, type Clock } from '../../batching/base/clock.ts';
import { AnswerWatch } from './answer-watch.ts';
import { isHeld, Leadership } from './leadership.ts';
import type { Link, LinkListener, Outgoing } from './link.ts';
import { holderOf, type Locks } from '../../protocol/locks.ts';
import { ALIVE, type AppNames, ASK, namesOf } from '../../protocol/names.ts';
import { WorkerHost, type WorkerSource } from './worker-host.ts';
import {
  foreignWorkerVersion,
  parseWorkerMessage,
  type WorkerMessage,
} from '../../protocol/worker-messages.ts';

/** The part of `window` that reports when the browser freezes or hides the page, and when it takes it back. */
export type PageLifecycle = Pick<EventTarget, 'addEventListener'>;

export interface SharedLinkOptions {
  readonly clientId: ClientId;
  readonly host: WorkerSource;
  readonly locks: Locks;
  readonly page: PageLifecycle;
  /** With false, this tab follows only. */
  readonly canLead: boolean;
  readonly clock?: Clock;
}

/** A page that is frozen, or kept for the back button, runs no code, so it must not lead. */
const SUSPEND_EVENTS = ['freeze', 'pagehide'] as const;
const RESUME_EVENTS = ['resume', 'pageshow'] as const;

/** How long the leader may say nothing where only another tab waits. */
const PATIENCE_FOR_OTHERS_MS = 10_000;

/**
 * One worker for all tabs of the app. Every tab that can lead queues for the leader's lock, and the tab that holds it runs the worker.
 * Messages go over channels, so that no tab needs to know which one leads. Those of the leader and its worker go over the worker's port,
 * which takes a fraction of the time.
 */
export class SharedLink implements Link {
  readonly isolationReason = '';
  readonly #clientId: ClientId;
  readonly #listener: LinkListener;
  readonly #locks: Locks;
  readonly #names: AppNames;
  readonly #clock: Clock;
  /** Undefined in a tab that follows only. */
  readonly #leadership: Leadership | undefined;
  readonly #shared: BroadcastChannel;
  readonly #own: BroadcastChannel;
  readonly #liveness: BroadcastChannel;
  readonly #watch: AnswerWatch;
  readonly #outbox = new TurnOutbox((data) => this.#send(data));
  #workers: WorkerHost | undefined;
  /** Workers of this tab that have spoken: over their ports, so that what they send to all comes twice. */
  readonly #ownWorkers = new Set<WorkerId>();
  /** Whether the worker that this tab has said hello to is its own. */
  #isOwn = false;
  /** Whether another tab waits for the leader's answers. */
  #isAsked = false;
  /** The leader that was asked last. */
  #asked: string | undefined;
  /** The worker that holds the workers' lock. A suspended one that wakes may still speak, but it has lost the lock. */
  #serving: WorkerId | undefined;
  readonly #closing = new AbortController();
  /** Resolves when this tab releases the lock that shows the worker that the tab is open. */
  readonly #presence = Promise.withResolvers<void>();
  #isAskingForForeign = false;

  constructor({ clientId, host, locks, page, canLead, clock }: SharedLinkOptions, listener: LinkListener) {
    this.#clientId = clientId;
    this.#listener = listener;
    this.#locks = locks;
    this.#names = namesOf(host.app);
    this.#clock = clock ?? systemClock;
    this.#liveness = this.#openLiveness();
    this.#watch = this.#createWatch();
    this.#leadership = canLead ? this.#createLeadership(host, page) : undefined;
    this.#shared = this.#listenTo(this.#names.sharedChannel);
    this.#own = this.#listenTo(this.#names.clientName(clientId));
    this.#followLifecycle(page);
    this.#open();
  }

  post(message: Outgoing): void {
    this.#outbox.post({ version: PROTOCOL_VERSION, clientId: this.#clientId, ...message });
    this.#watch.start();
  }

  /** From a hello to the next one, all takes one way: else a message could pass another one. */
  #send(data: ClientMessage | ClientMessages): void {
    if (data.type === 'hello')
      this.#isOwn = this.#serving !== undefined && this.#ownWorkers.has(this.#serving);
    if (this.#isOwn) this.#workers?.post(data);
    else this.#shared.postMessage(data);
  }

  close(): void {
    this.#outbox.flush();
    this.#closing.abort();
    this.#watch.stop();
    this.#liveness.close();
    this.#leadership?.resign();
    this.#presence.resolve();
    this.#shared.close();
    this.#own.close();
  }

  /** While this tab leads, it runs the worker. */
  #createLeadership({ createWorker, ...init }: WorkerSource, page: PageLifecycle): Leadership {
    const workers = new WorkerHost({
      createWorker,
      init: { ...init, isShared: true },
      tabs: () => this.#listener.tabNumbers,
      locks: this.#locks,
      page,
      onMessage: (data) => {
        const message = parseWorkerMessage(data);
        if (!message) return;
        this.#ownWorkers.add(message.workerId);
        void this.#receive(message);
      },
      onGiveUp: (error) => {
        // A worker may run in the next tab.
        this.#leadership?.resign();
        this.#listener.onFailure(error);
      },
    });
    this.#workers = workers;
    return new Leadership(this.#locks, this.#names.leaderLock, {
      onElected: () => {
        this.#listener.onRole('leader');
        workers.start();
      },
      onResigned: () => {
        workers.stop();
        this.#isOwn = false;
        this.#listener.onRole('follower');
      },
    });
  }

  #listenTo(channelName: string): BroadcastChannel {
    const channel = new BroadcastChannel(channelName);
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const message = parseWorkerMessage(data);
      if (message && this.#ownWorkers.has(message.workerId)) return;
      const foreign = message ? undefined : foreignWorkerVersion(data);
      if (message) void this.#receive(message);
      else if (foreign !== undefined) void this.#meetForeign(foreign);
    });
    return channel;
  }

  async #receive(message: WorkerMessage): Promise<void> {
    const { workerId, version } = message;
    if (workerId === this.#serving) {
      this.#hear();
      this.#listener.onMessage(message);
      return;
    }
    const holder = await holderOf(this.#locks, this.#names.workerLock);
    if (holder !== workerId || workerId === this.#serving || this.#closing.signal.aborted) return;
    this.#serving = workerId;
    this.#hear();
    // Later messages may have been dropped by now, so this tab says hello, whatever the message was.
    this.#listener.onMessage({ version, workerId, type: 'serving' });
  }

  #hear(): void {
    this.#isAsked = false;
    this.#watch.hear();
  }

  #openLiveness(): BroadcastChannel {
    const channel = new BroadcastChannel(this.#names.livenessChannel);
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (data === ALIVE) this.#hear();
      if (data !== ASK) return;
      if (this.#leadership?.isElected) {
        channel.postMessage(ALIVE);
        return;
      }
      // The tab that asks may not lead, or may be closed before it takes over.
      this.#isAsked = true;
      this.#watch.start();
    });
    return channel;
  }

  #createWatch(): AnswerWatch {
    return new AnswerWatch({
      clock: this.#clock,
      patienceMs: () => {
        if (this.#leadership?.isElected) return undefined;
        return this.#listener.patienceMs ?? (this.#isAsked ? PATIENCE_FOR_OTHERS_MS : undefined);
      },
      ask: () => {
        this.#liveness.postMessage(ASK);
        void holderOf(this.#locks, this.#names.leaderLock).then((holder) => (this.#asked = holder));
      },
      onSilence: () => void this.#takeOver(),
    });
  }

  /** Takes the lead, and the lock of the worker, which keeps it as long as its process is stopped. */
  async #takeOver(): Promise<void> {
    const { workerLock } = this.#names;
    const isLost = await mayTakeOver(this.#locks, this.#names, this.#asked);
    if (!isLost || this.#closing.signal.aborted || !this.#leadership?.takeOver()) return;
    // The next worker may take it in the same moment.
    await this.#locks.request(workerLock, { steal: true }, () => {}).catch(() => {});
  }

  #followLifecycle(page: PageLifecycle): void {
    const options = { capture: true, signal: this.#closing.signal };
    const suspend = (): void => {
      this.#listener.onSuspend();
      this.#leadership?.resign();
    };
    for (const type of SUSPEND_EVENTS) page.addEventListener(type, suspend, options);
    for (const type of RESUME_EVENTS) page.addEventListener(type, () => this.#leadership?.contend(), options);
  }

  /** Sends nothing before this tab holds its lock: the worker treats a tab without it as closed. */
  #open(): void {
    void this.#locks.request(this.#names.clientName(this.#clientId), () => {
      if (this.#closing.signal.aborted) return undefined;
      this.#listener.onOpen();
      if (this.#leadership) this.#leadership.contend();
      else void this.#watchLeader();
      return this.#presence.promise;
    });
  }

  async #watchLeader(): Promise<void> {
    const { watchLeader } = await import('./watch-leader.ts');
    await watchLeader({
      locks: this.#locks,
      lockName: this.#names.leaderLock,
      signal: this.#closing.signal,
      onLeader: (isThere) => this.#listener.onLeader(isThere),
      clock: this.#clock,
    });
  }

  async #meetForeign(version: number): Promise<void> {
    // Each message of a foreign worker comes here.
    if (this.#isAskingForForeign || this.#leadership?.hasYielded) return;
    this.#isAskingForForeign = true;
    const isTrue = await isServing(version, this.#locks, this.#names).finally(
      () => (this.#isAskingForForeign = false),
    );
    if (!isTrue || this.#closing.signal.aborted) return;
    // The newer version goes on: it leads as soon as it can.
    if (version > PROTOCOL_VERSION) this.#leadership?.yieldTo(this.#names.versionLock(version));
    this.#listener.onForeignWorker(version);
  }
}

/** Whether a worker of another version serves. The locks decide, as any page of the origin can claim it on the channel. */
async function isServing(version: number, locks: Locks, names: AppNames): Promise<boolean> {
  if (version > PROTOCOL_VERSION) return isHeld(locks, names.versionLock(version));
  // The first versions hold no lock of their own, but one worker serves at a time.
  return !(await isHeld(locks, names.versionLock(PROTOCOL_VERSION)));
}

/** Not from a tab that has just taken over itself, nor from one of another version, which knows no `ASK`. */
async function mayTakeOver(locks: Locks, names: AppNames, leader: string | undefined): Promise<boolean> {
  const { held = [] } = await locks.query();
  const isForeign = ({ name = '' }: LockInfo): boolean =>
    names.isVersionLock(name) && name !== names.versionLock(PROTOCOL_VERSION);
  return !held.some(isForeign) && held.find(({ name }) => name === names.leaderLock)?.clientId === leader;
}

/** Sends the messages of one turn together, so that they come together: calls made at once share their batches. */
export class TurnOutbox {
  readonly #send: (data: ClientMessage | ClientMessages) => void;
  #waiting: ClientMessage[] = [];

  constructor(send: (data: ClientMessage | ClientMessages) => void) {
    this.#send = send;
  }

  post(message: ClientMessage): void {
    if (message.type === 'hello') {
      // It goes alone: a worker of another version understands nothing else.
      this.flush();
      this.#send(message);
      return;
    }
    this.#waiting.push(message);
    if (this.#waiting.length === 1) queueMicrotask(() => this.flush());
    else if (this.#waiting.length === MAX_TOGETHER) this.flush();
  }

  flush(): void {
    const messages = this.#waiting;
    const [first, second] = messages;
    if (!first) return;
    this.#waiting = [];
    this.#send(second ? { version: PROTOCOL_VERSION, type: 'several', messages } : first);
  }
}
