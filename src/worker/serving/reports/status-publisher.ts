import type { WorkerStatus } from '../../../protocol/status.ts';

/** Fields of a status that can be removed. */
export type RemovableField =
  | 'progress'
  | 'error'
  | 'load'
  | 'loadFailure'
  | 'override'
  | 'model'
  | 'backend'
  | 'isEjected';

/** The worker's status, which every tab sees after each change. */
export class StatusPublisher {
  readonly #post: (status: WorkerStatus) => void;
  #current: WorkerStatus;

  constructor(initial: WorkerStatus, post: (status: WorkerStatus) => void) {
    this.#current = initial;
    this.#post = post;
  }

  get current(): WorkerStatus {
    return this.#current;
  }

  readonly change = (change: Partial<WorkerStatus>, removed: readonly RemovableField[] = []): void => {
    const kept = { ...this.#current };
    for (const field of removed) delete kept[field];
    this.#current = { ...kept, ...change };
    this.#post(this.#current);
  };
}
