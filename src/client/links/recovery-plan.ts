import { type BackendChoice, type Rung, LADDERS, RUNG_NAMES } from '../../protocol/ladder.ts';
import { type Fault, type Recovery, type WorkerPast, NO_PAST } from '../../protocol/recovery.ts';
import type { RequestId } from '../../protocol/ids.ts';

/** Where a worker was when it ended. */
export interface EndedWorker {
  readonly fault: Fault;
  /** Requests of the failed step that have no token from this worker; empty if no step ran. */
  readonly stalledIds: readonly RequestId[];
  /** Whether the worker was reading the prompt of the only one of them. Reading needs no rung. */
  readonly isReading?: boolean;
  /** Running sequences; 0 if unknown. */
  readonly numRunning: number;
  /** `fetch`: its script could not be loaded. `start`: it had not served yet. `idle`: no request waited or ran. */
  readonly phase: 'fetch' | 'start' | 'idle' | 'busy';
}

export type NextMove =
  /** Start a fresh worker with `past` after this many ms. */
  { readonly type: 'restart'; readonly delayMs: number } | { readonly type: 'give-up' };

/** Leave a rung after this many workers in a row without a token. */
const MAX_FAILURES_ON_RUNG = 2;
/** Leave a rung after this many workers in a row ran out of memory with a single sequence, even if they generated tokens. */
const MAX_LONE_MEMORY_FAULTS = 3;
/** Give up after this many workers in a row ended on the last rung before they served. */
const MAX_STARTS_ON_LAST_RUNG = 5;
/** Give up after this many loads of the script. With the growing delays, they take more than half a minute. */
const MAX_FETCHES = 10;
/** Give up after this many workers in a row ended before they chose a device. */
const MAX_STARTS_WITHOUT_RUNG = 3;
/** Fail a request after this many workers in a row crashed in its step without a token for it. */
const MAX_DEATHS_OF_REQUEST = 3;
/** Fail a request after this many workers in a row ended while they read its prompt. A single one may be chance. */
const MAX_DEATHS_OF_READ_REQUEST = 2;

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8000;
/** Time for the browser to restart a crashed GPU process. */
const ADAPTER_DELAY_MS = 2000;

/**
 * Decides what to do after a worker has ended. The next worker takes the same rung and resumes the requests. After several workers
 * without a token, it takes the next rung. A request fails only as a last resort: after several workers in a row crashed with it
 * alone in the step, either while other requests made progress or on the last rung. The rungs that were left because of it are
 * then tried again.
 */
export class RecoveryPlan {
  readonly #ladder: readonly Rung[];
  #past = NO_PAST;
  /** The rung of the current worker, once it is known. */
  #rung: Rung | undefined;
  #hasProgressed = false;
  /** Workers in a row without a token. */
  #numFailures = 0;
  /** Workers in a row that ended idle, or while they read a prompt. Their rung is not to blame. */
  #numIdleEnds = 0;
  /** Workers in a row whose script could not be loaded. Neither a rung nor a request is to blame. */
  #numFetchFailures = 0;
  #numLoneMemoryFaults = 0;
  /** By request, the workers in a row that crashed in its step without a token for it. */
  #numDeaths = new Map<RequestId, number>();

  constructor(choice: BackendChoice) {
    this.#ladder = LADDERS[choice];
  }

  /** For the next worker. */
  get past(): WorkerPast {
    return this.#past;
  }

  recordRung(rung: Rung): void {
    this.#rung = rung;
  }

  recordProgress(): void {
    this.#hasProgressed = true;
    this.#numFailures = 0;
    this.#numIdleEnds = 0;
  }

  recordEnd(ended: EndedWorker): NextMove {
    const { fault, stalledIds, phase, isReading = false } = ended;
    const hadProgress = this.#hasProgressed;
    const rung = this.#rung;
    this.#numFetchFailures = phase === 'fetch' ? this.#numFetchFailures + 1 : 0;
    if (phase === 'idle' || isReading) this.#numIdleEnds += 1;
    else if (phase !== 'fetch') this.#numFailures += 1;
    const attempt = Math.max(1, this.#numFailures + this.#numIdleEnds + this.#numFetchFailures);
    this.#hasProgressed = false;
    this.#rung = undefined;
    const isLoneMemoryFault = fault.kind === 'out-of-memory' && ended.numRunning === 1;
    this.#numLoneMemoryFaults = isLoneMemoryFault ? this.#numLoneMemoryFaults + 1 : 0;
    this.#countDeaths(stalledIds);
    const recovery: Recovery = { ...fault, ...(rung && { rung }), attempt };
    const { maxRows: _maxRows, ...past } = this.#past;
    this.#past = { ...past, recovery, ...this.#fewerRows(ended) };

    const isRungInDoubt = !hadProgress && !isReading;
    const fatalId = this.#fatalRequestOf(ended, isRungInDoubt && !this.#isLast(rung));
    if (fatalId) this.#fail(fatalId, isRungInDoubt);
    else if (this.#isHopeless(phase, rung)) return { type: 'give-up' };
    else if (rung && !this.#isLast(rung)) this.#leaveIfWeak(rung, fault);
    const leastDelayMs = fault.kind === 'adapter-gone' ? ADAPTER_DELAY_MS : 0;
    return { type: 'restart', delayMs: Math.max(leastDelayMs, delayAfter(attempt)) };
  }

  #countDeaths(stalledIds: readonly RequestId[]): void {
    this.#numDeaths = new Map(stalledIds.map((id) => [id, (this.#numDeaths.get(id) ?? 0) + 1]));
  }

  /** Halves the number of rows. This saves memory, and narrows down which request is at fault. */
  #fewerRows({ fault, stalledIds, numRunning }: EndedWorker): Pick<WorkerPast, 'maxRows'> {
    const isSuspicious = Math.max(0, ...this.#numDeaths.values()) >= MAX_FAILURES_ON_RUNG;
    const numTogether = fault.kind === 'out-of-memory' ? numRunning : isSuspicious ? stalledIds.length : 0;
    return numTogether < 2 ? {} : { maxRows: Math.floor(numTogether / 2) };
  }

  #fatalRequestOf({ stalledIds, isReading }: EndedWorker, mayBeAnotherRung: boolean): RequestId | undefined {
    const [only, ...others] = stalledIds;
    if (only === undefined || others.length > 0 || mayBeAnotherRung) return undefined;
    const numDeaths = this.#numDeaths.get(only) ?? 0;
    return numDeaths >= (isReading ? MAX_DEATHS_OF_READ_REQUEST : MAX_DEATHS_OF_REQUEST) ? only : undefined;
  }

  #fail(requestId: RequestId, isRungInDoubt: boolean): void {
    const { fatalIds, leftRungs, recovery } = this.#past;
    this.#numFailures = 0;
    this.#numDeaths.clear();
    this.#past = {
      ...this.#past,
      ...(recovery && { recovery: { ...recovery, hasFatalRequest: true } }),
      fatalIds: [...fatalIds, requestId],
      leftRungs: isRungInDoubt ? [] : leftRungs,
    };
  }

  get #isTooWeak(): boolean {
    const hasFailed = this.#numFailures >= MAX_FAILURES_ON_RUNG;
    return hasFailed || this.#numLoneMemoryFaults >= MAX_LONE_MEMORY_FAULTS;
  }

  #isLast(rung: Rung | undefined): boolean {
    return rung === this.#ladder.at(-1);
  }

  /** Only starts can be hopeless. If steps keep failing, a request is to blame. */
  #isHopeless(phase: EndedWorker['phase'], rung: Rung | undefined): boolean {
    if (phase === 'fetch') return this.#numFetchFailures >= MAX_FETCHES;
    if (phase !== 'start') return false;
    if (rung === undefined) return this.#numFailures >= MAX_STARTS_WITHOUT_RUNG;
    return this.#isLast(rung) && this.#numFailures >= MAX_STARTS_ON_LAST_RUNG;
  }

  #leaveIfWeak(rung: Rung, { kind, message }: Fault): void {
    // One wrong value is enough to leave a GPU.
    if (kind === 'wrong-values') this.#leave(rung, message);
    else if (this.#isTooWeak) {
      const numFailures = Math.max(this.#numFailures, this.#numLoneMemoryFaults);
      this.#leave(rung, `Gave up on ${RUNG_NAMES[rung]} after ${numFailures} failures in a row (${message})`);
    }
  }

  #leave(rung: Rung, reason: string): void {
    this.#numFailures = 0;
    this.#numLoneMemoryFaults = 0;
    this.#past = { ...this.#past, leftRungs: [...this.#past.leftRungs, { rung, reason }] };
  }
}

/** No delay the first time. Then each delay is twice as long as the previous one, up to a limit. */
function delayAfter(numFailures: number): number {
  return numFailures <= 1 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (numFailures - 2));
}
