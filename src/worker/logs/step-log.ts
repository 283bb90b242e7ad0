import type { StepBatch, StepRecord } from '../protocol/stats.ts';

const MAX_KEPT = 200;

/** Keeps the last steps of the engine, in the form of batches. */
export class StepLog {
  #batches: StepBatch[] = [];

  addRecords(records: readonly StepRecord[]): void {
    this.add(records.map(stepBatchOf));
  }

  add(batches: readonly StepBatch[]): void {
    if (batches.length > 0) this.#batches = [...this.#batches, ...batches].slice(-MAX_KEPT);
  }

  /** Oldest first. */
  get all(): readonly StepBatch[] {
    return this.#batches;
  }
}

function stepBatchOf(record: StepRecord): StepBatch {
  const { stepIndex, kind, reason, batchSize, numTokens, queueLength, waitMs, stepMs, outcome } = record;
  return {
    deployment: 'text-generator',
    batchIndex: stepIndex,
    kind,
    reason,
    batchSize,
    numTokens,
    queueLength,
    waitMs,
    executionMs: stepMs,
    outcome,
  };
}
