import type { BatchRecord } from '../protocol/protocol.ts';

const MAX_KEPT = 200;

/** The last batches of each deployment. */
export class BatchLog {
  readonly #records = new Map<string, BatchRecord[]>();

  add(record: BatchRecord): void {
    const records = this.#records.get(record.deployment) ?? [];
    records.push(record);
    if (records.length > MAX_KEPT) records.shift();
    this.#records.set(record.deployment, records);
  }

  /** Of one deployment, oldest first. */
  of(deployment: string): readonly BatchRecord[] {
    return [...(this.#records.get(deployment) ?? [])];
  }

  /** Of all deployments, each oldest first. */
  get all(): readonly BatchRecord[] {
    return [...this.#records.values()].flat();
  }
}
