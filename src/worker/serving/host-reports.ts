import type {
  Fault,
  FaultKind,
  HostMessage,
  Recovery,
  RequestId,
  RequestUpdate,
  Unsigned,
  WorkerPast,
} from '../protocol/protocol.ts';
import type { RequestBook } from './request-book.ts';

/** The tab that made this worker. */
export interface ServeWorkerHost {
  /** What came before this worker. */
  readonly past: WorkerPast;
  /** Sends a message to this tab alone. */
  tell(message: Unsigned<HostMessage>): void;
}

/** Ends of a worker that do not say which step was under way. */
const SILENT_ENDS: ReadonlySet<FaultKind> = new Set(['worker-error', 'worker-hang', 'worker-ended']);

/** Tells the tab that made this worker how the worker is doing: progress, steps that may kill it, and the fault that ended it. */
export class HostReports {
  readonly #host: ServeWorkerHost;
  readonly #book: RequestBook;
  readonly #onRecovery: (recovery: Recovery) => void;
  readonly #isAnnouncing: boolean;
  /** Requests of the step that was announced last. */
  #announcedIds: readonly RequestId[] = [];
  #hasProgressed = false;
  #hasFailed = false;

  constructor(host: ServeWorkerHost, book: RequestBook, onRecovery: (recovery: Recovery) => void) {
    const { recovery } = host.past;
    this.#host = host;
    this.#book = book;
    this.#onRecovery = onRecovery;
    this.#isAnnouncing = recovery !== undefined && SILENT_ENDS.has(recovery.kind);
  }

  /** After a worker that died in silence, names the requests of each step before it begins: they are the suspects. */
  announceStep(requestIds: readonly RequestId[]): void {
    if (!this.#isAnnouncing) return;
    this.#announcedIds = requestIds;
    this.#host.tell({ type: 'step', requestIds, stalledIds: this.#book.stalledOf(requestIds) });
  }

  recordUpdates(updates: readonly RequestUpdate[]): void {
    const generated = updates.filter(hasGenerated);
    const firsts = generated.filter(({ requestId }) => this.#book.recordToken(requestId));
    // The step after a request's first one may have been announced before its token was there.
    if (firsts.some(({ requestId }) => this.#announcedIds.includes(requestId)))
      this.announceStep(this.#announcedIds);
    if (generated.length > 0) this.recordProgress();
  }

  recordProgress(): void {
    if (this.#hasProgressed) return;
    this.#hasProgressed = true;
    this.#host.tell({ type: 'progress' });
  }

  /**
   * Shows the tabs what has happened, then asks the host for the next worker. Only the first fault counts.
   *
   * @param requestIds The requests of the step that failed.
   */
  fail(fault: Fault, requestIds: readonly RequestId[], numRunning: number): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const attemptsBefore = this.#hasProgressed ? 0 : (this.#host.past.recovery?.attempt ?? 0);
    // First: the host may terminate this worker at once.
    this.#onRecovery({ ...fault, attempt: attemptsBefore + 1 });
    this.#host.tell({ type: 'fault', fault, stalledIds: this.#book.stalledOf(requestIds), numRunning });
  }
}

/** An upstream need not send token ids, and a text may end before its first token. */
function hasGenerated(update: RequestUpdate): boolean {
  if (update.type === 'chunk') return update.tokenIds.length > 0 || update.text !== '';
  return update.type === 'finished';
}
