import type { Locks } from './link.ts';
import { LEADER_LOCK } from '../../protocol/names.ts';

export interface LeadershipListener {
  onElected(): void;
  onResigned(): void;
}

/** Competes for the leader's lock: the tab that holds it leads, and a tab that is gone holds nothing. */
export class Leadership {
  readonly #locks: Locks;
  readonly #listener: LeadershipListener;
  /** Set while this tab queues for the lock or holds it. */
  #candidacy: Candidacy | undefined;

  constructor(locks: Locks, listener: LeadershipListener) {
    this.#locks = locks;
    this.#listener = listener;
  }

  /** Queues for the lock; does nothing where this tab queues or leads already. */
  contend(): void {
    if (this.#candidacy) return;
    const candidacy: Candidacy = {
      isElected: false,
      withdrawal: new AbortController(),
      term: Promise.withResolvers<void>(),
    };
    this.#candidacy = candidacy;
    const { signal } = candidacy.withdrawal;
    this.#locks
      .request(LEADER_LOCK, { signal }, () => {
        // Withdrawn just as it was granted.
        if (this.#candidacy !== candidacy) return undefined;
        candidacy.isElected = true;
        this.#listener.onElected();
        return candidacy.term.promise;
      })
      .catch((error: unknown) => {
        // Withdrawn while it queued.
        if (!signal.aborted) throw error;
      });
  }

  /** Leaves the queue, or hands the lead to the next tab in it. */
  resign(): void {
    const candidacy = this.#candidacy;
    if (!candidacy) return;
    this.#candidacy = undefined;
    if (candidacy.isElected) this.#listener.onResigned();
    candidacy.withdrawal.abort();
    candidacy.term.resolve();
  }
}

interface Candidacy {
  isElected: boolean;
  readonly withdrawal: AbortController;
  readonly term: PromiseWithResolvers<void>;
}
