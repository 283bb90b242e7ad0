import type { BatchRecord } from '../protocol/stats.ts';

const MAX_KEPT = 200;

/** Keeps the last batches of each deployment. */
export class BatchLog {
  readonly #records = new Map<string, BatchRecord[]>();

  add(record: BatchRecord): void {
    const records = this.#records.get(record.deployment) ?? [];
    records.push(record);
    if (records.length > MAX_KEPT) records.shift();
    this.#records.set(record.deployment, records);
  }

  /** Oldest first. */
  of(deployment: string): readonly BatchRecord[] {
    return [...(this.#records.get(deployment) ?? [])];
  }

  /** All deployments; each oldest first. */
  get all(): readonly BatchRecord[] {
    return [...this.#records.values()].flat();
  }
}
