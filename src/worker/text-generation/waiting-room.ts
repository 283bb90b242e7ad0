import type { RequestId } from '../../protocol/ids.ts';
import type { Submission } from './prompt-generator.ts';

/** Requests that wait for a model or are being read, in order. */
export class WaitingRoom {
  readonly #submissions = new Map<RequestId, Submission>();

  get size(): number {
    return this.#submissions.size;
  }

  get all(): readonly Submission[] {
    return [...this.#submissions.values()];
  }

  /** Requests of one turn are accepted together or not at all, so they are read together. */
  get turns(): Iterable<readonly Submission[]> {
    return Map.groupBy(this.all, ({ clientId, turn, requestId }) =>
      JSON.stringify([clientId, ...(turn ?? [requestId])]),
    ).values();
  }

  enter(submissions: readonly Submission[]): void {
    for (const submission of submissions) this.#submissions.set(submission.requestId, submission);
  }

  /** False for an equal submission of an earlier reading. */
  has(submission: Submission): boolean {
    return this.#submissions.get(submission.requestId) === submission;
  }

  /** Returns whether the request was here. */
  leave(requestId: RequestId): boolean {
    return this.#submissions.delete(requestId);
  }

  clear(): void {
    this.#submissions.clear();
  }
}
