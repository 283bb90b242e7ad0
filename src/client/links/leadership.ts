import { type Clock, systemClock } from '../../batching/base/clock.ts';
import { isStolen, type Locks } from '../../protocol/locks.ts';

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

  get isElected(): boolean {
    return this.#isElected;
  }

  /** Queues for the lock. Does nothing if this tab queues or leads already. */
  contend(): void {
    if (this.#candidacy) return;
    this.#stand((signal) =>
      this.#superior === undefined ? this.#hold(signal, { signal }) : this.#outwait(this.#superior, signal),
    );
  }

  /** Takes the lock from a tab whose process doesn't run. Returns false unless this tab queues for it. */
  takeOver(): boolean {
    if (!this.#candidacy || this.#isElected || this.hasYielded) return false;
    this.resign();
    this.#stand((signal) => this.#hold(signal, { steal: true }));
    return true;
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

  #stand(run: (signal: AbortSignal) => Promise<void>): void {
    const candidacy = new AbortController();
    this.#candidacy = candidacy;
    run(candidacy.signal).catch((error: unknown) => {
      // This tab resigned while it queued.
      if (candidacy.signal.aborted) return;
      if (!isStolen(error)) throw error;
      // This tab was suspended for so long that another one took over.
      this.resign();
      this.contend();
    });
  }

  #hold(signal: AbortSignal, options: LockOptions): Promise<void> {
    const end = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    return this.#locks.request(this.#lockName, options, () => {
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
    await this.#hold(signal, { signal });
  }
}

export async function isHeld(locks: Locks, name: string): Promise<boolean> {
  const { held = [] } = await locks.query();
  return held.some((lock) => lock.name === name);
}
