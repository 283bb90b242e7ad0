import type { TabserveStats } from '../../client/index.ts';

/** Places the times of a worker on this tab's clock. Between two adjustments the distances are the worker's, however late messages are read. */
export class WorkerClock {
  #workerStartedAtMs: number | undefined;
  /** From the worker's clock to this tab's. */
  #offsetMs = 0;
  /** The least so far: a message can be late but never early. */
  #leastOffsetMs = Infinity;

  isOther({ workerStartedAtMs }: Pick<TabserveStats, 'workerStartedAtMs'>): boolean {
    return this.#workerStartedAtMs !== undefined && workerStartedAtMs !== this.#workerStartedAtMs;
  }

  toTabMs(
    { workerStartedAtMs, sentAtMs }: Pick<TabserveStats, 'workerStartedAtMs' | 'sentAtMs'>,
    receivedAtMs: number,
  ): number {
    const offsetMs = receivedAtMs - sentAtMs;
    if (workerStartedAtMs !== this.#workerStartedAtMs) {
      this.#workerStartedAtMs = workerStartedAtMs;
      [this.#offsetMs, this.#leastOffsetMs] = [offsetMs, offsetMs];
    }
    this.#leastOffsetMs = Math.min(this.#leastOffsetMs, offsetMs);
    return sentAtMs + this.#offsetMs;
  }

  adjust(): void {
    if (this.#workerStartedAtMs !== undefined) this.#offsetMs = this.#leastOffsetMs;
  }
}
