import type { BackendChoice, Fault, Recovery, RequestId, Rung, WorkerPast } from '../../protocol/protocol.ts';
import { ladderOf, RUNG_NAMES } from '../../protocol/ladder.ts';
import { NO_PAST } from '../../protocol/recovery.ts';

/** Where a worker was when it ended. */
export interface EndedWorker {
  readonly fault: Fault;
  /** Requests of the step that failed which have no token of this worker; empty where no step ran. */
  readonly stalledIds: readonly RequestId[];
  /** Sequences that ran; 0 where that is not known. */
  readonly numRunning: number;
  /** `fetch`: its script did not come. `start`: it had not served yet. `idle`: nobody waited for anything. */
  readonly phase: 'fetch' | 'start' | 'idle' | 'busy';
}

export type NextMove =
  /** A fresh worker, with `past`, after this long. */
  { readonly type: 'restart'; readonly delayMs: number } | { readonly type: 'give-up' };

/** Workers in a row without a token, before the next rung is tried. */
const MAX_FAILURES_ON_RUNG = 2;
/** Workers in a row for whose only sequence memory was too small, whatever they brought: another rung has other memory. */
const MAX_LONE_MEMORY_FAULTS = 3;
/** And where there is no other: so often a worker may end before it serves. */
const MAX_STARTS_ON_LAST_RUNG = 5;
/** With the longer and longer delays between them, more than half a minute: a network that has gone may be back by then. */
const MAX_FETCHES = 10;
/** Before its device is chosen, a worker depends on its script alone. */
const MAX_STARTS_WITHOUT_RUNG = 3;
/** Workers that a request may end, in a row and without a token of its own, before it is the one that fails. */
const MAX_DEATHS_OF_REQUEST = 3;

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8000;
/** A browser's GPU process that has crashed is back by then. */
const ADAPTER_DELAY_MS = 2000;

/**
 * What follows when a worker has ended. The same rung again, with its requests resumed; after several ends without a token in
 * between, the next rung. A request is the last thing to be blamed: it fails only when it was alone in the step that failed, in
 * worker after worker, either while others went on well or on the last rung. Then the rungs that were left for its sake are
 * tried again.
 */
export class RecoveryPlan {
  readonly #ladder: readonly Rung[];
  #past = NO_PAST;
  /** That the worker which runs now has said to run on. */
  #rung: Rung | undefined;
  #hasProgressed = false;
  /** Workers in a row without a token. */
  #numFailures = 0;
  /** Of these, those that had nothing to do: their rung is not to blame. */
  #numIdleEnds = 0;
  /** Workers in a row whose script did not come: no rung is to blame, and no request. */
  #numFetchFailures = 0;
  #numLoneMemoryFaults = 0;
  /** Deaths in a row, without a token of its own, at which each request was there. */
  #numDeaths = new Map<RequestId, number>();

  constructor(choice: BackendChoice) {
    this.#ladder = ladderOf(choice);
  }

  /** What the next worker has to know. */
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
    const { fault, stalledIds, phase } = ended;
    const hadProgress = this.#hasProgressed;
    const rung = this.#rung;
    const isProven = phase === 'busy' && (hadProgress || this.#past.isProven);
    this.#numFetchFailures = phase === 'fetch' ? this.#numFetchFailures + 1 : 0;
    if (phase === 'idle') this.#numIdleEnds += 1;
    else if (phase !== 'fetch') this.#numFailures += 1;
    const attempt = Math.max(1, this.#numFailures + this.#numIdleEnds + this.#numFetchFailures);
    this.#hasProgressed = false;
    this.#rung = undefined;
    const isLoneMemoryFault = fault.kind === 'out-of-memory' && ended.numRunning === 1;
    this.#numLoneMemoryFaults = isLoneMemoryFault ? this.#numLoneMemoryFaults + 1 : 0;
    this.#blame(stalledIds);
    const recovery: Recovery = { ...fault, ...(rung && { rung }), attempt };
    const { maxRows: _maxRows, ...past } = this.#past;
    this.#past = { ...past, recovery, isProven, ...this.#fewerRows(ended) };

    const condemned = this.#requestToCondemn(stalledIds, hadProgress, rung);
    if (condemned) this.#condemn(condemned, hadProgress);
    else if (this.#isHopeless(phase, rung)) return { type: 'give-up' };
    else if (rung && this.#isTooWeak && !this.#isLast(rung)) this.#leave(rung, fault);
    const leastDelayMs = fault.kind === 'adapter-gone' ? ADAPTER_DELAY_MS : 0;
    return { type: 'restart', delayMs: Math.max(leastDelayMs, delayAfter(attempt)) };
  }

  #blame(stalledIds: readonly RequestId[]): void {
    this.#numDeaths = new Map(stalledIds.map((id) => [id, (this.#numDeaths.get(id) ?? 0) + 1]));
  }

  /** Half as many at a time: less memory, or closer to the one that is to blame. */
  #fewerRows({ fault, stalledIds, numRunning }: EndedWorker): Pick<WorkerPast, 'maxRows'> {
    const isSuspicious = Math.max(0, ...this.#numDeaths.values()) >= MAX_FAILURES_ON_RUNG;
    const numTogether = fault.kind === 'out-of-memory' ? numRunning : isSuspicious ? stalledIds.length : 0;
    return numTogether < 2 ? {} : { maxRows: Math.floor(numTogether / 2) };
  }

  #requestToCondemn(
    stalledIds: readonly RequestId[],
    hadProgress: boolean,
    rung: Rung | undefined,
  ): RequestId | undefined {
    const [only, ...others] = stalledIds;
    if (only === undefined || others.length > 0) return undefined;
    const isGuilty = (this.#numDeaths.get(only) ?? 0) >= MAX_DEATHS_OF_REQUEST;
    return isGuilty && (hadProgress || this.#isLast(rung)) ? only : undefined;
  }

  #condemn(requestId: RequestId, hadProgress: boolean): void {
    const { condemned, leftRungs, recovery } = this.#past;
    this.#numFailures = 0;
    this.#numDeaths.clear();
    this.#past = {
      ...this.#past,
      ...(recovery && { recovery: { ...recovery, isCondemning: true } }),
      condemned: [...condemned, requestId],
      leftRungs: hadProgress ? leftRungs : [],
      isProven: hadProgress,
    };
  }

  get #isTooWeak(): boolean {
    const hasFailed = this.#numFailures >= MAX_FAILURES_ON_RUNG;
    return hasFailed || this.#numLoneMemoryFaults >= MAX_LONE_MEMORY_FAULTS;
  }

  #isLast(rung: Rung | undefined): boolean {
    return rung === this.#ladder.at(-1);
  }

  /** A step that fails again and again ends with a request that is to blame; a start has nobody else. */
  #isHopeless(phase: EndedWorker['phase'], rung: Rung | undefined): boolean {
    if (phase === 'fetch') return this.#numFetchFailures >= MAX_FETCHES;
    if (phase !== 'start') return false;
    if (rung === undefined) return this.#numFailures >= MAX_STARTS_WITHOUT_RUNG;
    return this.#isLast(rung) && this.#numFailures >= MAX_STARTS_ON_LAST_RUNG;
  }

  #leave(rung: Rung, { message }: Fault): void {
    const numFailures = Math.max(this.#numFailures, this.#numLoneMemoryFaults);
    const reason = `${RUNG_NAMES[rung]} was left after ${numFailures} failures in a row (${message})`;
    this.#numFailures = 0;
    this.#numLoneMemoryFaults = 0;
    this.#past = { ...this.#past, isProven: false, leftRungs: [...this.#past.leftRungs, { rung, reason }] };
  }
}

/** At once the first time, then twice as long each time, up to a bound. */
function delayAfter(numFailures: number): number {
  return numFailures <= 1 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (numFailures - 2));
}
