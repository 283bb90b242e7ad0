import type { ClientId, RequestId } from '../../worker/protocol/ids.ts';
import type { ServeStats, SlotStay, StepRecord } from '../../worker/protocol/stats.ts';
import type { RequestView } from './request-view.ts';

/** A sequence's stay in a K/V slot, on this tab's clock. */
export interface SlotBar extends Omit<SlotStay, 'startedAgoMs' | 'firstTokenAgoMs' | 'endedAgoMs'> {
  readonly key: string;
  /** Undefined until its request is known. */
  readonly owner?: BarOwner;
  readonly startedAtMs: number;
  readonly firstTokenAtMs?: number;
  readonly endedAtMs?: number;
}

export interface BarOwner {
  /** Undefined for a request of this tab. */
  readonly clientId: ClientId | undefined;
  readonly ordinal: number | undefined;
  readonly prompt: string;
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
/** Covers the bars that are still shown at a thousand steps a second. */
const MAX_STEPS = 20_000;

/** The stays in the K/V slots, with their steps. Mutable, like the charts' history. */
export class SlotHistory {
  /** In the order of their first report. A later report changes the bar itself. */
  readonly #bars: SlotBar[] = [];
  /** The bar of each lasting stay, by the worker's name of the stay. */
  #lasting = new Map<string, SlotBar>();
  #numKnown = 0;
  readonly #unowned = new Set<SlotBar>();
  /** Undefined until it is asked for again. */
  #requestIds: ReadonlySet<RequestId> | undefined;
  #steps: TracedStep[] = [];
  /** Added to the index of a step. */
  #indexOffset = 0;
  #lastEndedAtMs = 0;

  /** Oldest first. */
  get steps(): readonly TracedStep[] {
    return this.#steps;
  }

  get bars(): readonly SlotBar[] {
    return this.#bars;
  }

  /**
   * The requests that have bars, in the order of their start; messages name those that ended first. A request may end without a bar,
   * and its first bar may come after its tokens.
   */
  get requestIds(): ReadonlySet<RequestId> {
    this.#requestIds ??= new Set(
      this.#bars.toSorted((a, b) => a.startedAtMs - b.startedAtMs).map(({ requestId }) => requestId),
    );
    return this.#requestIds;
  }

  get numLive(): number {
    return this.#lasting.size;
  }

  /** Time stands still here while no sequence holds a slot, ms. */
  get lastEndedAtMs(): number {
    return this.#lastEndedAtMs;
  }

  record({ steps, slotStays }: Pick<ServeStats, 'steps' | 'slotStays'>, receivedAtMs: number): void {
    for (const { agoMs, ...step } of steps) {
      const serialIndex = this.#countOn(step.stepIndex);
      this.#steps.push({ ...step, endedAtMs: receivedAtMs - agoMs, serialIndex });
    }
    if (this.#steps.length > MAX_STEPS) this.#steps = this.#steps.slice(-MAX_STEPS / 2);
    this.#requestIds = undefined;
    const lasting = new Map<string, SlotBar>();
    for (const stay of slotStays) {
      const name = `${stay.requestId}#${stay.index}#${stay.stayIndex}`;
      const before = this.#lasting.get(name);
      const known = before && isSameStay(before, stay) ? before : undefined;
      if (known) this.#lasting.delete(name);
      const bar = this.#update(known, stay, receivedAtMs);
      if (bar.endedAtMs === undefined) lasting.set(name, bar);
      else this.#lastEndedAtMs = Math.max(this.#lastEndedAtMs, bar.endedAtMs);
    }
    // A lost worker never reports the end of its stays, so end them here.
    for (const lost of this.#lasting.values()) Object.assign(lost, { end: 'error', endedAtMs: receivedAtMs });
    this.#lasting = lasting;
    const numTooMany = Math.max(0, this.#bars.length - MAX_BARS);
    for (const forgotten of this.#bars.splice(0, numTooMany)) this.#unowned.delete(forgotten);
  }

  /** Gives the bars their owners, as far as their requests are known. */
  nameOwners(requests: ReadonlyMap<RequestId, RequestView>): void {
    for (const bar of this.#unowned) {
      const request = requests.get(bar.requestId);
      if (!request) continue;
      const { clientId, ordinal, prompt } = request;
      Object.assign(bar, { owner: { clientId, ordinal, prompt } });
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

  #update(known: SlotBar | undefined, stay: SlotStay, receivedAtMs: number): SlotBar {
    const { startedAgoMs, firstTokenAgoMs, endedAgoMs, ...rest } = stay;
    // A message can be late but never early, so the earliest estimate is the closest.
    const startedAtMs = Math.min(known?.startedAtMs ?? Infinity, receivedAtMs - startedAgoMs);
    // Both ends of an interval come from one message, because messages take different times to arrive.
    const at = (agoMs: number): number => startedAtMs + startedAgoMs - agoMs;
    const report = {
      ...rest,
      startedAtMs,
      ...(firstTokenAgoMs !== undefined && { firstTokenAtMs: at(firstTokenAgoMs) }),
      ...(endedAgoMs !== undefined && { endedAtMs: at(endedAgoMs) }),
    };
    if (known) return Object.assign(known, report);
    this.#numKnown += 1;
    const bar = { key: `${stay.requestId}#${this.#numKnown}`, ...report };
    this.#bars.push(bar);
    this.#unowned.add(bar);
    return bar;
  }
}

/** A resubmitted request is in a stay of the same name, whose steps count from 0 again. */
function isSameStay(bar: SlotBar, { firstStepIndex, lastStepIndex }: SlotStay): boolean {
  return firstStepIndex === bar.firstStepIndex && lastStepIndex >= bar.lastStepIndex;
}

/** How much longer one message may take than another. */
const TOLERANCE_MS = 500;

/** Another worker counts from 0 again: time tells steps of the same index apart. */
function isStepOf(bar: SlotBar, { stepIndex, slots, endedAtMs }: TracedStep): boolean {
  if (stepIndex < bar.firstStepIndex || stepIndex > bar.lastStepIndex || !slots.includes(bar.slot))
    return false;
  const isAfterStart = endedAtMs > bar.startedAtMs - TOLERANCE_MS;
  return isAfterStart && endedAtMs < (bar.endedAtMs ?? Infinity) + TOLERANCE_MS;
}
