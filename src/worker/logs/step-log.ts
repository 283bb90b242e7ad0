import type { StepBatch, StepRecord } from '../protocol/protocol.ts';

const MAX_KEPT = 200;

/** The last steps of the engine, as the batches that they are. */
export class StepLog {
  #batches: StepBatch[] = [];

  /** @param records What a stats message brings. */
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
