import type { BatchMetrics } from '../../batching/metrics/batch-metrics.ts';
import type { BatchEvent } from '../../batching/batch.ts';
import type { BatchRecord } from '../protocol/stats.ts';
import type { WireError } from '../protocol/wire.ts';

/** Codes of requests that were never accepted; any other failure is the handler's. */
const REFUSAL_CODES: ReadonlySet<string> = new Set([
  'BACK_PRESSURE',
  'CLOSED',
  'INVALID_OPTION',
  'ITEM_TOO_LARGE',
  'UNKNOWN_OPTION',
]);

/** Numbers the batches of one deployment, and feeds its metrics. */
export class BatchReporter {
  readonly #deployment: string;
  readonly #metrics: BatchMetrics;
  #numBatches = 0;

  constructor(deployment: string, metrics: BatchMetrics) {
    this.#deployment = deployment;
    this.#metrics = metrics;
  }

  recordQueueWait(queueWaitMs: number): void {
    this.#metrics.onQueueWait(this.#deployment, queueWaitMs);
  }

  recordBatch(event: BatchEvent, queueLength: number): BatchRecord {
    this.#metrics.onBatch(this.#deployment, event, queueLength);
    return { ...event, deployment: this.#deployment, batchIndex: this.#numBatches++, queueLength };
  }

  recordFailure({ code }: WireError): void {
    if (code === 'REQUEST_CANCELLED') this.#metrics.onCancelled(this.#deployment);
    else if (REFUSAL_CODES.has(code)) this.#metrics.onRejected(this.#deployment, code);
  }
}
