import { type Clock, systemClock } from '../../batching/clock.ts';
import type { Locks } from '../../protocol/locks.ts';

export interface LeadershipListener {
  onElected(): void;
  onResigned(): void;
}

/** Longer than a reload of a tab with the newer version takes. */
const RELOAD_MS = 10_000;

/** Competes for the leader's lock. The tab that holds it leads, and the browser releases the lock of a closed tab. */
export class Leadership {
  readonly #locks: Locks;
  readonly #lockName: string;
  readonly #listener: LeadershipListener;
  readonly #clock: Clock;
  /** Set while this tab queues for the lock or holds it. */
  #candidacy: AbortController | undefined;
  #isElected = false;
  /** The lock of a worker that this tab yields to. This tab queues only after that lock has been free for a while. */
  #superior: string | undefined;

  constructor(locks: Locks, lockName: string, listener: LeadershipListener, clock: Clock = systemClock) {
    this.#locks = locks;
    this.#lockName = lockName;
    this.#listener = listener;
    this.#clock = clock;
  }

  /** Whether this tab waits until another worker's lock is free. */
  get hasYielded(): boolean {
    return this.#superior !== undefined;
  }

  /** Queues for the lock. Does nothing if this tab queues or leads already. */
  contend(): void {
    if (this.#candidacy) return;
    this.#candidacy = new AbortController();
    const { signal } = this.#candidacy;
    const run = this.#superior === undefined ? this.#queue(signal) : this.#outwait(this.#superior, signal);
    run.catch((error: unknown) => {
      // This tab resigned while it queued.
      if (!signal.aborted) throw error;
    });
  }

  /** Leaves the queue, or hands the lead to the next tab in it. */
  resign(): void {
    const [candidacy, wasElected] = [this.#candidacy, this.#isElected];
    this.#candidacy = undefined;
    this.#isElected = false;
    if (wasElected) this.#listener.onResigned();
    candidacy?.abort();
  }

  /** Resigns. If the tab competes now or later, it queues only after this other lock has been free for a while. */
  yieldTo(superior: string): void {
    const isCandidate = this.#candidacy !== undefined;
    this.resign();
    this.#superior = superior;
    if (isCandidate) this.contend();
  }

  #queue(signal: AbortSignal): Promise<void> {
    const end = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    return this.#locks.request(this.#lockName, { signal }, () => {
      // This tab resigned just as the lock was granted.
      if (signal.aborted) return undefined;
      this.#isElected = true;
      this.#listener.onElected();
      return end;
    });
  }

  async #outwait(superior: string, signal: AbortSignal): Promise<void> {
    do {
      await this.#locks.request(superior, { signal }, () => {});
      await new Promise<void>((resolve) => this.#clock.setTimer(RELOAD_MS, resolve));
    } while (await isHeld(this.#locks, superior));
    if (signal.aborted) return;
    this.#superior = undefined;
    await this.#queue(signal);
  }
}

export async function isHeld(locks: Locks, name: string): Promise<boolean> {
  const { held = [] } = await locks.query();
  return held.some((lock) => lock.name === name);
}
