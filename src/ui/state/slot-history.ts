import type {
  ClientId,
  RequestId,
  ServeStats,
  SlotStay,
  StepRecord,
} from '../../worker/protocol/protocol.ts';
import type { RequestView } from './request-view.ts';

/** A sequence's stay in a K/V slot, on this tab's clock. */
export interface SlotBar extends Omit<SlotStay, 'startedAgoMs' | 'firstTokenAgoMs' | 'endedAgoMs'> {
  readonly key: string;
  /** Undefined while nothing is known of its request. */
  readonly owner?: BarOwner;
  readonly startedAtMs: number;
  readonly firstTokenAtMs?: number;
  /** Left out while it lasts. */
  readonly endedAtMs?: number;
}

export interface BarOwner {
  /** Of another tab's request; undefined for one of this tab. */
  readonly clientId: ClientId | undefined;
  readonly ordinal: number | undefined;
  readonly prompt: string;
}

/** A forward pass, on this tab's clock. */
interface TracedStep extends Omit<StepRecord, 'agoMs'> {
  readonly endedAtMs: number;
}

/** A step as one request saw it. */
export interface RequestStep extends TracedStep {
  readonly ownSlots: readonly number[];
}

const MAX_BARS = 3000;
/** Enough for the traces of the bars that are still shown, on a backend that makes a thousand steps a second. */
const MAX_STEPS = 20_000;

/** Who was in which slot when, and every step of it. Mutable on purpose, as the charts' history. */
export class SlotHistory {
  /** In the order in which they came to be known here. */
  readonly #bars = new Map<string, SlotBar>();
  /** Of each stay that lasts, by what the worker calls it: the key of its bar. */
  readonly #lasting = new Map<string, string>();
  #numKnown = 0;
  readonly #unowned = new Set<string>();
  #steps: TracedStep[] = [];
  #lastEndedAtMs = 0;

  get bars(): Iterable<SlotBar> {
    return this.#bars.values();
  }

  /** Of the requests that have bars, in the order in which they started; messages name those that ended first. */
  get requestIds(): readonly RequestId[] {
    const sorted = [...this.#bars.values()].toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    return [...new Set(sorted.map(({ requestId }) => requestId))];
  }

  get numBars(): number {
    return this.#bars.size;
  }

  /** Sequences that hold a slot, as of the last message. */
  get numLive(): number {
    return this.#lasting.size;
  }

  /** Where time stands still while nobody holds a slot, ms. */
  get lastEndedAtMs(): number {
    return this.#lastEndedAtMs;
  }

  record({ steps, slotStays }: Pick<ServeStats, 'steps' | 'slotStays'>, receivedAtMs: number): void {
    for (const { agoMs, ...step } of steps) this.#steps.push({ ...step, endedAtMs: receivedAtMs - agoMs });
    if (this.#steps.length > MAX_STEPS) this.#steps = this.#steps.slice(-MAX_STEPS / 2);
    const told = new Set<string>();
    for (const stay of slotStays) {
      const bar = this.#update(stay, receivedAtMs);
      told.add(bar.key);
      if (bar.endedAtMs !== undefined) this.#lastEndedAtMs = Math.max(this.#lastEndedAtMs, bar.endedAtMs);
    }
    for (const [name, key] of this.#lasting) if (!told.has(key)) this.#endLost(name, key, receivedAtMs);
    this.#forgetOldest();
  }

  /** Tells the bars whose requests they are of, once that is known. */
  nameOwners(requests: ReadonlyMap<RequestId, RequestView>): void {
    for (const key of this.#unowned) {
      const bar = this.#bars.get(key);
      const request = bar && requests.get(bar.requestId);
      if (!request) continue;
      const { clientId, ordinal, prompt } = request;
      this.#bars.set(key, { ...bar, owner: { clientId, ordinal, prompt } });
      this.#unowned.delete(key);
    }
  }

  /** Whether its last step is known. A request may have ended before the message that tells of its steps. */
  isOver(requestId: RequestId): boolean {
    const bars = this.barsOf(requestId);
    return bars.length > 0 && bars.every(({ endedAtMs }) => endedAtMs !== undefined);
  }

  barsOf(requestId: RequestId): readonly SlotBar[] {
    return [...this.#bars.values()].filter((bar) => bar.requestId === requestId);
  }

  /** The steps that a request took part in, oldest first, as far back as they are kept, with its own slots in each. */
  stepsOf(requestId: RequestId): readonly RequestStep[] {
    const bars = this.barsOf(requestId);
    return this.#steps.flatMap((step) => {
      const ownSlots = bars.filter((bar) => isStepOf(bar, step)).map(({ slot }) => slot);
      return ownSlots.length > 0 ? [{ ...step, ownSlots }] : [];
    });
  }

  #update(stay: SlotStay, receivedAtMs: number): SlotBar {
    const { startedAgoMs, firstTokenAgoMs, endedAgoMs, ...rest } = stay;
    const name = `${stay.requestId}#${stay.index}#${stay.stayIndex}`;
    const lasting = this.#bars.get(this.#lasting.get(name) ?? '');
    const known = lasting && isSameStay(lasting, stay) ? lasting : undefined;
    if (lasting && !known) this.#endLost(name, lasting.key, receivedAtMs);
    const key = known?.key ?? `${name}#${(this.#numKnown += 1)}`;
    // A message can be late and never early, so the earliest estimate is the closest.
    const startedAtMs = Math.min(known?.startedAtMs ?? Infinity, receivedAtMs - startedAgoMs);
    // Both ends of an interval come from one message: between two messages lies what each of them took to arrive.
    const at = (agoMs: number): number => startedAtMs + startedAgoMs - agoMs;
    const bar: SlotBar = {
      ...rest,
      key,
      ...(known?.owner && { owner: known.owner }),
      startedAtMs,
      ...(firstTokenAgoMs !== undefined && { firstTokenAtMs: at(firstTokenAgoMs) }),
      ...(endedAgoMs !== undefined && { endedAtMs: at(endedAgoMs) }),
    };
    this.#bars.set(key, bar);
    if (bar.endedAtMs === undefined) this.#lasting.set(name, key);
    else this.#lasting.delete(name);
    if (!bar.owner) this.#unowned.add(key);
    return bar;
  }

  /** Of a worker or an engine that was lost nobody tells the end. */
  #endLost(name: string, key: string, receivedAtMs: number): void {
    this.#lasting.delete(name);
    const bar = this.#bars.get(key);
    if (bar) this.#bars.set(key, { ...bar, end: 'error', endedAtMs: receivedAtMs });
  }

  #forgetOldest(): void {
    for (const key of this.#bars.keys()) {
      if (this.#bars.size <= MAX_BARS) return;
      this.#bars.delete(key);
      this.#unowned.delete(key);
    }
  }
}

/** A request that was resubmitted is in a stay of the same name, whose steps are counted anew. */
function isSameStay(bar: SlotBar, { firstStepIndex, lastStepIndex }: SlotStay): boolean {
  return firstStepIndex === bar.firstStepIndex && lastStepIndex >= bar.lastStepIndex;
}

/** Messages do not all take the same time to arrive. */
const TOLERANCE_MS = 500;

/** Another worker counts its steps anew: those of the same index are told apart by their time. */
function isStepOf(bar: SlotBar, { stepIndex, slots, endedAtMs }: TracedStep): boolean {
  if (stepIndex < bar.firstStepIndex || stepIndex > bar.lastStepIndex || !slots.includes(bar.slot))
    return false;
  const isAfterStart = endedAtMs > bar.startedAtMs - TOLERANCE_MS;
  return isAfterStart && endedAtMs < (bar.endedAtMs ?? Infinity) + TOLERANCE_MS;
}
