import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import type { FaultKind, Recovery, WorkerPast } from '../../../protocol/recovery.ts';
import type { HostMessage } from '../../../protocol/host-messages.ts';
import type { RequestId, WorkerId } from '../../../protocol/ids.ts';
import type { RequestUpdate } from '../../../protocol/requests.ts';
import type { TabNumbers } from '../../../protocol/status.ts';
import type { Unsigned } from '../../../protocol/wire.ts';
import { faultOfWorker } from '../../runtime/faults/fault-of.ts';
import type { RequestRegistry } from './request-registry.ts';

/** The tab that made this worker, and its options. */
export interface ServeWorkerHost {
  readonly workerId: WorkerId;
  /** Distinguishes the app from others of its origin. */
  readonly app?: string;
  /** As `WorkerInit.isTrial`. */
  readonly isTrial?: boolean | undefined;
  /** As `WorkerInit.lifeLock`. */
  readonly lifeLock?: string | undefined;
  /** The history of earlier workers. */
  readonly past: WorkerPast;
  /** The tabs as the worker before this one had numbered them. */
  readonly tabs: TabNumbers;
  /** Sends a message only to this tab. */
  tell(message: Unsigned<HostMessage>): void;
  /** Resolves when the workers before this one have ended, which are suspended or about to end. */
  whenAlone(): Promise<void>;
}

/** Ends of a worker that do not name the step in progress. */
const SILENT_ENDS: ReadonlySet<FaultKind> = new Set(['worker-error', 'worker-hang', 'worker-ended']);

/** Reports to the tab that made this worker: progress, steps that may kill the worker, and the fault that ended it. */
export class HostReports {
  readonly #host: ServeWorkerHost;
  readonly #registry: RequestRegistry;
  readonly #onRecovery: (recovery: Recovery) => void;
  readonly #isAnnouncing: boolean;
  /** Requests of the step that began last. */
  #stepIds: readonly RequestId[] = [];
  #hasProgressed = false;
  #hasFailed = false;

  constructor(host: ServeWorkerHost, registry: RequestRegistry, onRecovery: (recovery: Recovery) => void) {
    const { recovery } = host.past;
    this.#host = host;
    this.#registry = registry;
    this.#onRecovery = onRecovery;
    this.#isAnnouncing = recovery !== undefined && SILENT_ENDS.has(recovery.kind);
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A step is about to begin. If an earlier worker died without a report, this names the suspects in advance. */
  recordStep(requestIds: readonly RequestId[]): void {
    this.#stepIds = requestIds;
    if (this.#isAnnouncing)
      this.#host.tell({ type: 'step', stalledIds: this.#registry.stalledOf(requestIds) });
  }

  /** Names the request whose prompt is being read. Only the tab can notice if that never ends. */
  whileReading<Result>(requestId: RequestId, read: () => Result): Result {
    this.#host.tell({ type: 'reading', requestId });
    try {
      return read();
    } finally {
      this.#host.tell({ type: 'reading' });
    }
  }

  recordUpdates(updates: readonly RequestUpdate[]): void {
    const generated = updates.filter(hasGenerated);
    const firsts = generated.filter(({ requestId }) => this.#registry.recordToken(requestId));
    // A step may begin before the first tokens of the previous step have arrived.
    if (firsts.some(({ requestId }) => this.#stepIds.includes(requestId))) this.recordStep(this.#stepIds);
    if (generated.length > 0) this.recordProgress();
  }

  recordProgress(): void {
    if (this.#hasProgressed) return;
    this.#hasProgressed = true;
    this.#host.tell({ type: 'progress' });
  }

  /**
   * Shows the fault to the tabs, then asks the host for the next worker. Only the first fault counts.
   *
   * @param error `RuntimeLostError`, or an uncaught error.
   */
  fail(error: unknown, numRunning: number): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const fault = faultOfWorker(error);
    const requestIds = error instanceof RuntimeLostError ? error.requestIds : this.#stepIds;
    const attemptsBefore = this.#hasProgressed ? 0 : (this.#host.past.recovery?.attempt ?? 0);
    // First, because the host may terminate this worker at once.
    this.#onRecovery({ ...fault, attempt: attemptsBefore + 1 });
    this.#host.tell({ type: 'fault', fault, stalledIds: this.#registry.stalledOf(requestIds), numRunning });
  }
}

/** A text may end before its first token. */
function hasGenerated(update: RequestUpdate): boolean {
  return update.type === 'finished' || (update.type === 'chunk' && update.tokenIds.length > 0);
}
