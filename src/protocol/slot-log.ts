import type { FailedEvent, FinishedEvent, StepEvent } from '../batching/generation/events.ts';
import type { RequestId } from './ids.ts';
import type { SlotSpan } from './stats.ts';
import { parseSequenceId } from './sequence-id.ts';

/** A `SlotSpan` with times on the worker's clock. Mutable, because each token of each step changes one. */
interface LiveSpan extends Omit<
  SlotSpan,
  'requestId' | 'index' | 'startedAgoMs' | 'firstTokenAgoMs' | 'endedAgoMs' | 'numTokens' | 'lastStepIndex'
> {
  readonly sequenceId: RequestId;
  readonly startedAtMs: number;
  firstTokenAtMs?: number;
  numTokens: number;
  lastStepIndex: number;
}

interface EndedSpan extends LiveSpan {
  readonly end: NonNullable<SlotSpan['end']>;
  readonly endedAtMs: number;
}

/** Records which sequence is in which K/V slot, and for how long. */
export class SlotLog {
  readonly #live = new Map<RequestId, LiveSpan>();
  /** Spans that ended since the last `take`. */
  #ended: EndedSpan[] = [];

  recordStep({ stepIndex, rows, requests, stepMs, endedAtMs }: StepEvent): void {
    const queueWaits = new Map<RequestId, number>();
    for (const event of requests)
      if (event.type === 'started') queueWaits.set(event.requestId, event.queueWaitMs);
    const startedAtMs = endedAtMs - stepMs;
    const steps = { startedAtMs, firstStepIndex: stepIndex, lastStepIndex: stepIndex, numTokens: 0 };
    for (const { requestId: sequenceId, slot } of rows) {
      const slotSpan = this.#live.get(sequenceId);
      const queueWaitMs = queueWaits.get(sequenceId);
      if (queueWaitMs !== undefined) {
        this.#live.set(sequenceId, { sequenceId, slot, spanIndex: 0, queueWaitMs, ...steps });
      } else if (slotSpan?.slot === slot) {
        slotSpan.lastStepIndex = stepIndex;
      } else if (slotSpan) {
        this.#end(sequenceId, 'moved', startedAtMs);
        const { spanIndex, queueWaitMs: firstWaitMs } = slotSpan;
        const next = { sequenceId, slot, spanIndex: spanIndex + 1, queueWaitMs: firstWaitMs };
        this.#live.set(sequenceId, { ...next, ...steps });
      }
    }
    for (const event of requests) {
      const slotSpan = this.#live.get(event.requestId);
      if (event.type === 'token' && slotSpan) {
        slotSpan.numTokens += 1;
        slotSpan.firstTokenAtMs ??= endedAtMs;
      } else if (event.type === 'finished' || event.type === 'failed') {
        this.recordEnd(event, endedAtMs);
      }
    }
  }

  /** Does nothing for a sequence that never had a slot. */
  recordEnd({ requestId, finishReason }: FinishedEvent | FailedEvent, endedAtMs: number): void {
    this.#end(requestId, finishReason, endedAtMs);
  }

  /** Returns spans that still last, and spans that ended since the last call. */
  take(nowMs: number): readonly SlotSpan[] {
    const slotSpans = [...this.#ended, ...this.#live.values()];
    this.#ended = [];
    return slotSpans.map((slotSpan) => toSlotSpan(slotSpan, nowMs));
  }

  #end(sequenceId: RequestId, end: EndedSpan['end'], endedAtMs: number): void {
    const slotSpan = this.#live.get(sequenceId);
    if (!slotSpan) return;
    this.#live.delete(sequenceId);
    this.#ended.push({ ...slotSpan, end, endedAtMs });
  }
}

function toSlotSpan(
  { sequenceId, startedAtMs, firstTokenAtMs, endedAtMs, ...slotSpan }: LiveSpan & Partial<EndedSpan>,
  nowMs: number,
): SlotSpan {
  return {
    ...slotSpan,
    ...parseSequenceId(sequenceId),
    startedAgoMs: nowMs - startedAtMs,
    ...(firstTokenAtMs !== undefined && { firstTokenAgoMs: nowMs - firstTokenAtMs }),
    ...(endedAtMs !== undefined && { endedAgoMs: nowMs - endedAtMs }),
  };
}
