import type { FailedEvent, FinishedEvent, StepEvent } from '../../batching/generation/events.ts';
import type { RequestId } from '../protocol/ids.ts';
import type { SlotStay } from '../protocol/stats.ts';
import { parseSequenceId } from '../text-generation/sequence-id.ts';

/** A `SlotStay` with times on the worker's clock. */
interface Stay {
  readonly sequenceId: RequestId;
  readonly slot: number;
  readonly stayIndex: number;
  readonly queueWaitMs: number;
  readonly startedAtMs: number;
  readonly firstStepIndex: number;
  lastStepIndex: number;
  numTokens: number;
  firstTokenAtMs?: number;
  endedAtMs?: number;
  end?: NonNullable<SlotStay['end']>;
}

/** Records which sequence is in which K/V slot, and for how long. */
export class SlotLog {
  readonly #live = new Map<RequestId, Stay>();
  /** Ended since the last `take`. */
  #ended: Stay[] = [];

  recordStep({ stepIndex, rows, requests, stepMs, endedAtMs }: StepEvent): void {
    const queueWaits = new Map<RequestId, number>();
    for (const event of requests)
      if (event.type === 'started') queueWaits.set(event.requestId, event.queueWaitMs);
    const startedAtMs = endedAtMs - stepMs;
    for (const { requestId: sequenceId, slot } of rows) {
      const queueWaitMs = queueWaits.get(sequenceId);
      if (queueWaitMs !== undefined) {
        this.#begin({ sequenceId, slot, stayIndex: 0, queueWaitMs }, startedAtMs, stepIndex);
      }
      this.#continue(sequenceId, slot, startedAtMs, stepIndex);
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

  #begin(
    stay: Pick<Stay, 'sequenceId' | 'slot' | 'stayIndex' | 'queueWaitMs'>,
    startedAtMs: number,
    stepIndex: number,
  ): void {
    const begun = { ...stay, startedAtMs, firstStepIndex: stepIndex, lastStepIndex: stepIndex, numTokens: 0 };
    this.#live.set(stay.sequenceId, begun);
  }

  /** Ignores a sequence that ended while its step was in flight: it has no stay any more. */
  #continue(sequenceId: RequestId, slot: number, startedAtMs: number, stepIndex: number): void {
    const stay = this.#live.get(sequenceId);
    if (!stay) return;
    if (stay.slot === slot) {
      stay.lastStepIndex = stepIndex;
      return;
    }
    this.#end(sequenceId, 'moved', startedAtMs);
    const next = { sequenceId, slot, stayIndex: stay.stayIndex + 1, queueWaitMs: stay.queueWaitMs };
    this.#begin(next, startedAtMs, stepIndex);
  }

  #end(sequenceId: RequestId, end: NonNullable<SlotStay['end']>, endedAtMs: number): void {
    const stay = this.#live.get(sequenceId);
    if (!stay) return;
    this.#live.delete(sequenceId);
    this.#ended.push({ ...stay, end, endedAtMs });
  }
}

function toSlotStay(
  { sequenceId, startedAtMs, firstTokenAtMs, endedAtMs, ...stay }: Stay,
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
