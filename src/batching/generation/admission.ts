import { DrainRate, retryAfterMsOf } from '../queue/drain-rate.ts';
import { backPressure, crowd } from '../queue/queue-errors.ts';
import type { KvPlanner } from './kv-planner.ts';
import { RequestQueue, type TurnOwner } from '../queue/request-queue.ts';
import type { GenerationRequest } from './request.ts';
import type { SchedulerState } from './scheduler-state.ts';
import { Sequence } from './sequence.ts';

/** Decides which requests may wait, and when they may start. */
export class Admission {
  readonly #state: SchedulerState;
  readonly #kv: KvPlanner;
  readonly waiting = new RequestQueue<Sequence>();
  /** Running sequences, each from its admission to its end. */
  readonly sequenceRate = new DrainRate();
  /** Steps, each from `schedule` to `update`. */
  readonly stepRate = new DrainRate();

  constructor(state: SchedulerState, kv: KvPlanner) {
    this.#state = state;
    this.#kv = kv;
  }

  get isIdle(): boolean {
    return this.#state.numRunning === 0;
  }

  /** When an idle engine has held a partial batch for long enough. */
  get wakeAtMs(): number | undefined {
    const { oldest } = this.waiting;
    if (!this.isIdle || !oldest) return undefined;
    return oldest.arrivedAtMs + this.#state.policy.batchWaitTimeoutMs;
  }

  /** Whether an idle engine holds a partial batch, which starts when its wait is over. */
  get isGathering(): boolean {
    const { policy, maxBatchSize, batchWaitTimeoutMs } = this.#state.policy;
    if (policy === 'off' || batchWaitTimeoutMs === 0 || this.wakeAtMs === undefined) return false;
    return this.waiting.length < maxBatchSize;
  }

  /** See `Scheduler.addAll`. */
  addAll(requests: readonly GenerationRequest[], nowMs: number, wasAccepted: boolean): void {
    const [first] = requests;
    if (!first) return;
    for (const request of requests) {
      const error = this.#kv.errorFor(request);
      if (error) throw error;
    }
    if (!wasAccepted && !first.isBackground) this.#checkRoom(first, requests.length, nowMs);
    for (const request of requests) this.waiting.add(new Sequence(request, nowMs));
  }

  /** Whether background sequences run while another one waits. */
  get isUrgent(): boolean {
    const { next } = this.waiting;
    return next?.isBackground === false && this.#state.running.some(isBackground);
  }

  /** Whether the next prompt to compute is in the foreground. */
  get isForegroundNext(): boolean {
    return this.waiting.next?.isBackground === false || !this.#state.prefilling.every(isBackground);
  }

  /**
   * Preempts background sequences to make room for the next one: those that don't decode yet, and if that isn't enough,
   * the one that began last. Call it while no step is in flight.
   */
  makeWay(): void {
    const { next } = this.waiting;
    if (!next || !this.isUrgent) return;
    const { policy, maxBatchSize } = this.#state.policy;
    const isContinuous = policy === 'continuous';
    // Any other batch has to end as a whole.
    if (!isContinuous && !this.#state.running.every(isBackground)) return;
    const victims = isContinuous ? this.#state.prefilling : this.#state.running;
    for (const sequence of victims.filter(isBackground)) this.#interrupt(sequence);
    const hasPlace = this.#state.numRunning < maxBatchSize && this.#kv.canHold({ next });
    const last = hasPlace ? undefined : this.#state.decoding.findLast(isBackground);
    if (last) this.#interrupt(last);
  }

  /** One that began with more memory than there is now could never start again, so it goes on. */
  #interrupt(sequence: Sequence): void {
    if (this.#kv.errorFor(sequence.request)) return;
    this.sequenceRate.forget(sequence);
    this.#state.remove(sequence);
    this.#kv.keep(sequence);
    sequence.interrupt();
    this.waiting.add(sequence);
  }

  /**
   * The next prompt to compute: one whose slot is reserved already, or one that may start now. One whose K/V can be copied waits
   * for the decode step, which makes the copy.
   */
  nextToPrefill(nowMs: number): Sequence | undefined {
    for (;;) {
      const { prefilling } = this.#state;
      // Its staging row belongs to it until its prompt is whole.
      const begun = prefilling.find(({ numComputedTokens }) => numComputedTokens > 0);
      const next = begun ?? prefilling.find((sequence) => !this.#kv.findJoinable(sequence));
      // An admission may cost the prefix that one of these was to take over, so all are asked again.
      if (next || !this.admit(nowMs)) return next;
    }
  }

  /** Gives slots to as many waiting sequences as the policy has places for; returns the first. */
  admit(nowMs: number): Sequence | undefined {
    let first: Sequence | undefined;
    for (let places = this.numPlaces(nowMs); places > 0; places -= 1) {
      const sequence = this.waiting.next;
      if (!sequence || !this.#kv.makeRoom({ next: sequence })) break;
      this.waiting.take();
      this.#state.admit(sequence);
      this.sequenceRate.start(sequence, nowMs);
      first ??= sequence;
    }
    return first;
  }

  /** `continuous` admits one at a time, to make each choice as late as possible. A `static` batch is cut at once. */
  numPlaces(nowMs: number): number {
    const { numRunning } = this.#state;
    const { policy, maxBatchSize } = this.#state.policy;
    switch (policy) {
      case 'off':
        return this.isIdle ? 1 : 0;
      case 'static':
        return this.isIdle && this.#isBatchDue(nowMs) ? maxBatchSize : 0;
      case 'continuous':
        return numRunning < maxBatchSize && (!this.isIdle || this.#isBatchDue(nowMs)) ? 1 : 0;
    }
  }

  #isBatchDue(nowMs: number): boolean {
    return this.waiting.length >= this.#state.policy.maxBatchSize || nowMs >= (this.wakeAtMs ?? Infinity);
  }

  #checkRoom(owner: TurnOwner, numRequests: number, nowMs: number): void {
    const { maxQueuedRequests } = this.#state.policy;
    if (numRequests > maxQueuedRequests) throw crowd(numRequests, maxQueuedRequests);
    const limit = this.waiting.limitFor(owner, maxQueuedRequests, numRequests);
    if (!limit) return;
    const { numMissing, ...details } = limit;
    const retryAfterMs = retryAfterMsOf(this.#remainingMs(nowMs, numMissing));
    throw backPressure({ ...details, retryAfterMs });
  }

  /** Until this many places in the queue are likely to be free, ms. */
  #remainingMs(nowMs: number, numPlaces: number): number {
    const { policy, maxBatchSize, batchWaitTimeoutMs } = this.#state.policy;
    const { numRunning } = this.#state;
    const { next, oldest, length } = this.waiting;
    const isFull = !oldest || length >= maxBatchSize;
    const readyMs = isFull ? 0 : oldest.arrivedAtMs + batchWaitTimeoutMs - nowMs;
    if (this.isIdle) return policy === 'off' ? 0 : readyMs;
    if (policy === 'off') return this.sequenceRate.remainingMs(nowMs, numRunning * numPlaces);
    if (policy === 'static') {
      const numEnds = numRunning * Math.ceil(numPlaces / maxBatchSize);
      return Math.max(readyMs, this.sequenceRate.remainingMs(nowMs, numEnds));
    }
    // The next step admits, or the one after it if this one has no prefill budget left.
    if (next && numRunning < maxBatchSize && this.#kv.canHold({ next }))
      return this.stepRate.remainingMs(nowMs, numPlaces + 1);
    return this.sequenceRate.remainingMs(nowMs, numPlaces + Math.max(0, numRunning - maxBatchSize));
  }
}

function isBackground(sequence: Sequence): boolean {
  return sequence.isBackground;
}
