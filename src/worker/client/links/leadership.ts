import type { Locks } from './link.ts';

export interface LeadershipListener {
  onElected(): void;
  onResigned(): void;
}

/** Competes for the leader's lock: the tab that holds it leads, and a tab that is gone holds nothing. */
export class Leadership {
  readonly #locks: Locks;
  readonly #lockName: string;
  readonly #listener: LeadershipListener;
  /** Set while this tab queues for the lock or holds it. */
  #candidacy: AbortController | undefined;
  #isElected = false;

  constructor(locks: Locks, lockName: string, listener: LeadershipListener) {
    this.#locks = locks;
    this.#lockName = lockName;
    this.#listener = listener;
  }

  /** Queues for the lock; does nothing where this tab queues or leads already. */
  contend(): void {
    if (this.#candidacy) return;
    this.#candidacy = new AbortController();
    const { signal } = this.#candidacy;
    const end = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    this.#locks
      .request(this.#lockName, { signal }, () => {
        // Withdrawn just as it was granted.
        if (signal.aborted) return undefined;
        this.#isElected = true;
        this.#listener.onElected();
        return end;
      })
      .catch((error: unknown) => {
        // Withdrawn while it queued.
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
}
