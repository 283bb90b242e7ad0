import type { RequestId, TabserveStats, SlotSpan, StepRecord } from '../../client/index.ts';
import { Lanes } from './lanes.ts';
import { isActive, type RequestView } from './request-view.ts';
import type { Sender } from './sender.ts';

/** A sequence's span in a K/V slot, on this tab's clock. */
export interface SlotBar extends Omit<SlotSpan, 'startedAgoMs' | 'firstTokenAgoMs' | 'endedAgoMs' | 'end'> {
  readonly key: string;
  /** Its row on the screen: the slot of the sequence's first span, or another one where that is taken. Moves don't change it. */
  readonly lane: number;
  /** Undefined until its request is known. */
  readonly owner?: BarOwner;
  readonly startedAtMs: number;
  readonly firstTokenAtMs?: number;
  readonly endedAtMs?: number;
  /** `lost`: its worker ended first. */
  readonly end?: NonNullable<SlotSpan['end']> | 'lost';
}

/** The time between two workers, in which no step ran. */
export interface WorkerGap {
  readonly startedAtMs: number;
  /** Undefined until the next worker's first step. */
  readonly endedAtMs?: number;
}

/** The parts of a message that the history keeps. */
export type RecordedStats = Pick<TabserveStats, 'steps' | 'slotSpans' | 'workerStartedAtMs' | 'sentAtMs'>;

export interface BarOwner {
  /** Undefined for a request of this tab. */
  readonly sender: Sender | undefined;
  readonly ordinal?: number | undefined;
  /** Undefined where the request's row is gone. */
  readonly prompt?: string;
}

/** A forward pass, on this tab's clock. */
export interface TracedStep extends Omit<StepRecord, 'agoMs'> {
  readonly endedAtMs: number;
  /** The step's index, counted on across workers, each of which counts from 0 again. */
  readonly serialIndex: number;
}

/** A step that a request took part in, with the request's own slots. */
export interface RequestStep extends TracedStep {
  readonly ownSlots: readonly number[];
}

const MAX_BARS = 3000;
const MAX_GAPS = 20;
/** Covers the bars that are still shown at a thousand steps a second. */
const MAX_STEPS = 20_000;

/** The spans in the K/V slots, with their steps. Changes in place, like the charts' history. */
export class SlotHistory {
  /** In the order of their first report. A later report changes the bar itself. */
  readonly #bars: SlotBar[] = [];
  /** The bar of each span that goes on, by the worker's name of the span. */
  #ongoing = new Map<string, SlotBar>();
  #numKnown = 0;
  readonly #unowned = new Set<SlotBar>();
  readonly #gaps: WorkerGap[] = [];
  readonly #clock = new WorkerClock();
  readonly #lanes = new Lanes();
  readonly #numBars = new Map<RequestId, number>();
  #steps: TracedStep[] = [];
  /** Added to the index of a step. */
  #indexOffset = 0;
  #lastEndedAtMs = 0;
  /** When the last message was sent. */
  #sentAtMs = 0;
  #requests: ReadonlyMap<RequestId, RequestView> = new Map();

  /** Oldest first. */
  get steps(): readonly TracedStep[] {
    return this.#steps;
  }

  get bars(): readonly SlotBar[] {
    return this.#bars;
  }

  /** Oldest first. */
  get gaps(): readonly WorkerGap[] {
    return this.#gaps;
  }

  /** A request may end without a bar, and its first bar may come after its tokens. */
  has(requestId: RequestId): boolean {
    return this.#numBars.has(requestId);
  }

  /** The requests that have bars, in the order of their start; messages name those that ended first. */
  requestIds(): readonly RequestId[] {
    const bars = this.#bars.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    return [...new Set(bars.map(({ requestId }) => requestId))];
  }

  /** The requests in the forward pass that took place at this time, or just before it. */
  requestsAt(atMs: number): ReadonlySet<RequestId> {
    const step = this.#steps.findLast(({ endedAtMs, stepMs }) => endedAtMs - stepMs <= atMs);
    const bars = step ? this.#bars.filter((bar) => isStepOf(bar, step)) : [];
    return new Set(bars.map(({ requestId }) => requestId));
  }

  get numLive(): number {
    return this.#ongoing.size;
  }

  /** Time stands still here while no sequence holds a slot, ms. */
  get lastEndedAtMs(): number {
    return this.#lastEndedAtMs;
  }

  /** Call it when a run begins: the places of what follows may then get closer to this tab's clock. */
  adjustClock(): void {
    this.#clock.adjust();
  }

  /** Returns when the message was sent. */
  record({ steps, slotSpans, ...sent }: RecordedStats, receivedAtMs: number): number {
    if (this.#clock.isOther(sent)) this.loseWorker();
    const sentAtMs = this.#clock.toTabMs(sent, receivedAtMs);
    for (const { agoMs, ...step } of steps) {
      const serialIndex = this.#countOn(step.stepIndex);
      this.#steps.push({ ...step, endedAtMs: sentAtMs - agoMs, serialIndex });
    }
    this.#endGap(sentAtMs, steps);
    if (this.#steps.length > MAX_STEPS) this.#steps = this.#steps.slice(-MAX_STEPS / 2);
    // Oldest first, because a lane is free only after the bar before.
    const byStart = slotSpans.toSorted((a, b) => b.startedAgoMs - a.startedAgoMs);
    const known = byStart.map((slotSpan) => {
      const bar = this.#ongoing.get(nameOf(slotSpan));
      return bar && isSameSpan(bar, slotSpan) ? bar : undefined;
    });
    const ofLostWorker = [...this.#ongoing.values()].filter((bar) => !known.includes(bar));
    this.#end(ofLostWorker, this.#sentAtMs);
    this.#ongoing = new Map();
    for (const [position, slotSpan] of byStart.entries()) {
      const bar = this.#update(known[position], slotSpan, sentAtMs);
      if (bar.endedAtMs === undefined) this.#ongoing.set(nameOf(slotSpan), bar);
      else this.#lastEndedAtMs = Math.max(this.#lastEndedAtMs, bar.endedAtMs);
    }
    this.#lanes.settle();
    const numTooMany = Math.max(0, this.#bars.length - MAX_BARS);
    for (const forgotten of this.#bars.splice(0, numTooMany)) {
      this.#unowned.delete(forgotten);
      const numLeft = (this.#numBars.get(forgotten.requestId) ?? 1) - 1;
      if (numLeft > 0) this.#numBars.set(forgotten.requestId, numLeft);
      else this.#numBars.delete(forgotten.requestId);
    }
    this.#sentAtMs = sentAtMs;
    return sentAtMs;
  }

  /** The worker is gone, and with it the rest of its messages: its bars end with what it last reported. */
  loseWorker(): void {
    if (this.#ongoing.size === 0) return;
    this.#gaps.push({ startedAtMs: this.#sentAtMs });
    this.#gaps.splice(0, this.#gaps.length - MAX_GAPS);
    this.#end(this.#ongoing.values(), this.#sentAtMs);
    this.#ongoing = new Map();
  }

  /** Gives the bars their owners, as far as their requests are known. @param senders Also of requests whose rows are gone. */
  nameOwners(requests: ReadonlyMap<RequestId, RequestView>, senders?: ReadonlyMap<RequestId, Sender>): void {
    this.#requests = requests;
    for (const bar of this.#unowned) {
      const request: Partial<BarOwner> = requests.get(bar.requestId) ?? {};
      const { sender = senders?.get(bar.requestId), ordinal, prompt } = request;
      if (sender === undefined && prompt === undefined) continue;
      Object.assign(bar, { owner: { sender, ordinal, prompt } });
      this.#unowned.delete(bar);
    }
  }

  /** Whether its last step is known. A request may end before the message with its steps. */
  isOver(requestId: RequestId): boolean {
    const bars = this.barsOf(requestId);
    return bars.length > 0 && bars.every(({ endedAtMs }) => endedAtMs !== undefined);
  }

  barsOf(requestId: RequestId): readonly SlotBar[] {
    return this.#bars.filter((bar) => bar.requestId === requestId);
  }

  /** Oldest first, as far back as steps are kept. */
  stepsOf(requestId: RequestId): readonly RequestStep[] {
    const bars = this.barsOf(requestId);
    return this.#steps.flatMap((step) => {
      const ownSlots = bars.filter((bar) => isStepOf(bar, step)).map(({ slot }) => slot);
      return ownSlots.length > 0 ? [{ ...step, ownSlots }] : [];
    });
  }

  #countOn(stepIndex: number): number {
    const last = this.#steps.at(-1)?.serialIndex ?? -1;
    if (stepIndex + this.#indexOffset <= last) this.#indexOffset = last + 1 - stepIndex;
    return stepIndex + this.#indexOffset;
  }

  #endGap(sentAtMs: number, [first]: TabserveStats['steps']): void {
    const gap = this.#gaps.at(-1);
    if (!gap || gap.endedAtMs !== undefined || !first) return;
    Object.assign(gap, { endedAtMs: sentAtMs - first.agoMs - first.stepMs });
  }

  #update(known: SlotBar | undefined, slotSpan: SlotSpan, sentAtMs: number): SlotBar {
    const { startedAgoMs, firstTokenAgoMs, endedAgoMs, ...rest } = slotSpan;
    const report = {
      ...rest,
      startedAtMs: sentAtMs - startedAgoMs,
      ...(firstTokenAgoMs !== undefined && { firstTokenAtMs: sentAtMs - firstTokenAgoMs }),
      ...(endedAgoMs !== undefined && { endedAtMs: sentAtMs - endedAgoMs }),
    };
    if (known) {
      this.#lanes.follow(Object.assign(known, report));
      return known;
    }
    this.#numKnown += 1;
    const key = `${slotSpan.requestId}#${this.#numKnown}`;
    const bar = { key, lane: this.#lanes.choose(report), ...report };
    this.#lanes.follow(bar);
    this.#bars.push(bar);
    this.#numBars.set(slotSpan.requestId, (this.#numBars.get(slotSpan.requestId) ?? 0) + 1);
    this.#unowned.add(bar);
    return bar;
  }

  /** A lost worker never reports the end of its spans. That of a text may have come. */
  #end(bars: Iterable<SlotBar>, endedAtMs: number): void {
    for (const bar of bars) {
      const isOver = !isActive(this.#requests.get(bar.requestId)?.status ?? 'running');
      const end = isOver ? {} : { end: 'lost' };
      Object.assign(bar, { ...end, endedAtMs: Math.max(bar.startedAtMs, endedAtMs) });
      this.#lastEndedAtMs = Math.max(this.#lastEndedAtMs, endedAtMs);
      this.#lanes.follow(bar);
    }
  }
}

function nameOf({ requestId, index, spanIndex }: SlotSpan): string {
  return `${requestId}#${index}#${spanIndex}`;
}

/** A resubmitted request has a span of the same name, whose steps count from 0 again. */
function isSameSpan(bar: SlotBar, { firstStepIndex, lastStepIndex }: SlotSpan): boolean {
  return firstStepIndex === bar.firstStepIndex && lastStepIndex >= bar.lastStepIndex;
}

/** The times of two messages differ by their rounding. */
const TOLERANCE_MS = 1;

/** Another worker counts from 0 again, so steps of the same index differ in time. */
function isStepOf(bar: SlotBar, { stepIndex, slots, endedAtMs }: TracedStep): boolean {
  if (stepIndex < bar.firstStepIndex || stepIndex > bar.lastStepIndex || !slots.includes(bar.slot))
    return false;
  const isAfterStart = endedAtMs > bar.startedAtMs - TOLERANCE_MS;
  return isAfterStart && endedAtMs < (bar.endedAtMs ?? Infinity) + TOLERANCE_MS;
}

/** Places the times of a worker on this tab's clock. Between two adjustments the distances are the worker's, however late messages are read. */
class WorkerClock {
  #workerStartedAtMs: number | undefined;
  /** From the worker's clock to this tab's. */
  #offsetMs = 0;
  /** The least so far: a message can be late but never early. */
  #leastOffsetMs = Infinity;

  isOther({ workerStartedAtMs }: Pick<TabserveStats, 'workerStartedAtMs'>): boolean {
    return this.#workerStartedAtMs !== undefined && workerStartedAtMs !== this.#workerStartedAtMs;
  }

  toTabMs(
    { workerStartedAtMs, sentAtMs }: Pick<TabserveStats, 'workerStartedAtMs' | 'sentAtMs'>,
    receivedAtMs: number,
  ): number {
    const offsetMs = receivedAtMs - sentAtMs;
    if (workerStartedAtMs !== this.#workerStartedAtMs) {
      this.#workerStartedAtMs = workerStartedAtMs;
      [this.#offsetMs, this.#leastOffsetMs] = [offsetMs, offsetMs];
    }
    this.#leastOffsetMs = Math.min(this.#leastOffsetMs, offsetMs);
    return sentAtMs + this.#offsetMs;
  }

  adjust(): void {
    if (this.#workerStartedAtMs !== undefined) this.#offsetMs = this.#leastOffsetMs;
  }
}
