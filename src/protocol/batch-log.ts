import { TEXT_GENERATOR } from './generation.ts';
import type { BatchRecord, StepBatch, StepRecord } from './stats.ts';

const MAX_KEPT = 200;

/** Keeps the last batches of each deployment. */
export class BatchLog<Batch extends BatchRecord | StepBatch = BatchRecord> {
  readonly #batches = new Map<string, Batch[]>();

  add(batch: Batch): void {
    const batches = this.#batches.get(batch.deployment) ?? [];
    batches.push(batch);
    if (batches.length > MAX_KEPT) batches.shift();
    this.#batches.set(batch.deployment, batches);
  }

  /** Oldest first. */
  of(deployment: string): readonly Batch[] {
    return [...(this.#batches.get(deployment) ?? [])];
  }

  /** All deployments; each oldest first. */
  get all(): readonly Batch[] {
    return [...this.#batches.values()].flat();
  }
}

/** A step of the engine, in the form of a batch. */
export function stepBatchOf(record: StepRecord): StepBatch {
  const { stepIndex, kind, reason, batchSize, numTokens, queueLength, waitMs, stepMs, outcome } = record;
  return {
    deployment: TEXT_GENERATOR,
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
