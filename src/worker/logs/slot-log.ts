import type { FailedEvent, FinishedEvent, StepEvent } from '../../batching/generation/events.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { SlotStay } from '../../protocol/stats.ts';
import { parseSequenceId } from '../../protocol/sequence-id.ts';

/** A `SlotStay` with times on the worker's clock. Mutable: each token of each step changes one. */
interface Stay extends Omit<
  SlotStay,
  'requestId' | 'index' | 'startedAgoMs' | 'firstTokenAgoMs' | 'endedAgoMs' | 'numTokens' | 'lastStepIndex'
> {
  readonly sequenceId: RequestId;
  readonly startedAtMs: number;
  firstTokenAtMs?: number;
  numTokens: number;
  lastStepIndex: number;
}

interface EndedStay extends Stay {
  readonly end: NonNullable<SlotStay['end']>;
  readonly endedAtMs: number;
}

/** Records which sequence is in which K/V slot, and for how long. */
export class SlotLog {
  readonly #live = new Map<RequestId, Stay>();
  /** Ended since the last `take`. */
  #ended: EndedStay[] = [];

  recordStep({ stepIndex, rows, requests, stepMs, endedAtMs }: StepEvent): void {
    const queueWaits = new Map<RequestId, number>();
    for (const event of requests)
      if (event.type === 'started') queueWaits.set(event.requestId, event.queueWaitMs);
    const startedAtMs = endedAtMs - stepMs;
    const steps = { startedAtMs, firstStepIndex: stepIndex, lastStepIndex: stepIndex, numTokens: 0 };
    for (const { requestId: sequenceId, slot } of rows) {
      const stay = this.#live.get(sequenceId);
      const queueWaitMs = queueWaits.get(sequenceId);
      if (queueWaitMs !== undefined) {
        this.#live.set(sequenceId, { sequenceId, slot, stayIndex: 0, queueWaitMs, ...steps });
      } else if (stay?.slot === slot) {
        stay.lastStepIndex = stepIndex;
      } else if (stay) {
        this.#end(sequenceId, 'moved', startedAtMs);
        const { stayIndex, queueWaitMs: firstWaitMs } = stay;
        const next = { sequenceId, slot, stayIndex: stayIndex + 1, queueWaitMs: firstWaitMs };
        this.#live.set(sequenceId, { ...next, ...steps });
      }
    }
    for (const event of requests) {
      const stay = this.#live.get(event.requestId);
      if (event.type === 'token' && stay) {
        stay.numTokens += 1;
        stay.firstTokenAtMs ??= endedAtMs;
      } else if (event.type === 'finished' || event.type === 'failed') {
        this.recordEnd(event, endedAtMs);
      }
    }
  }

  /** Does nothing for a sequence that never had a slot. */
  recordEnd({ requestId, finishReason }: FinishedEvent | FailedEvent, endedAtMs: number): void {
    this.#end(requestId, finishReason, endedAtMs);
  }

  /** Returns stays that still last, and stays that ended since the last call. */
  take(nowMs: number): readonly SlotStay[] {
    const stays = [...this.#ended, ...this.#live.values()];
    this.#ended = [];
    return stays.map((stay) => toSlotStay(stay, nowMs));
  }

  #end(sequenceId: RequestId, end: EndedStay['end'], endedAtMs: number): void {
    const stay = this.#live.get(sequenceId);
    if (!stay) return;
    this.#live.delete(sequenceId);
    this.#ended.push({ ...stay, end, endedAtMs });
  }
}

function toSlotStay(
  { sequenceId, startedAtMs, firstTokenAtMs, endedAtMs, ...stay }: Stay & Partial<EndedStay>,
  nowMs: number,
): SlotStay {
  return {
    ...stay,
    ...parseSequenceId(sequenceId),
    startedAgoMs: nowMs - startedAtMs,
    ...(firstTokenAtMs !== undefined && { firstTokenAgoMs: nowMs - firstTokenAtMs }),
    ...(endedAtMs !== undefined && { endedAgoMs: nowMs - endedAtMs }),
  };
}
