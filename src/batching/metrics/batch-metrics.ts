import type { BatchEvent } from '../batch/batch-options.ts';
import type { MetricsRegistry } from './registry.ts';

/** Counts the requests and batches of deployments. */
export interface BatchMetrics {
  /** For each `BatchEvent`. Ignores `cancelled`: `onCancelled` counts waiting and running requests. */
  onBatch(deployment: string, event: BatchEvent, queueLength: number): void;
  /** For each request in a batch: arrival -> cut. */
  onQueueWait(deployment: string, queueWaitMs: number): void;
  /** For each refused request. */
  onRejected(deployment: string, code: string): void;
  /** For each request that its caller cancelled while it waited or ran. */
  onCancelled(deployment: string): void;
}

// Bucket bounds are Ray's, so that its dashboards fit.
const DURATIONS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 5000, 10_000, 60_000, 120_000, 300_000, 600_000,
];
const PERCENTS = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * Ray's names, without the prefix `ray_` of its exporter. Ray's label `function_name` is left out: a deployment has one batched
 * handler.
 */
const DEPLOYMENT = ['deployment'] as const;

/** Registers its metrics, or uses those that the registry has under these names. */
export function createBatchMetrics(registry: MetricsRegistry): BatchMetrics {
  const metrics = registerMetrics(registry);
  return {
    onBatch: (deployment, event, queueLength) => {
      const { reason, measuredSize, maxBatchSize, waitMs, executionMs, outcome } = event;
      metrics.waitTime.observe({ deployment }, waitMs);
      metrics.executionTime.observe({ deployment }, executionMs);
      metrics.queueLength.set({ deployment }, queueLength);
      metrics.utilization.observe({ deployment }, (measuredSize / maxBatchSize) * 100);
      metrics.batchSize.observe({ deployment }, measuredSize);
      metrics.processed.inc({ deployment });
      metrics.cut.inc({ deployment, reason });
      if (outcome === 'error') metrics.failed.inc({ deployment });
    },
    onQueueWait: (deployment, queueWaitMs) => metrics.queueWait.observe({ deployment }, queueWaitMs),
    onRejected: (deployment, code) => metrics.rejected.inc({ deployment, code }),
    onCancelled: (deployment) => metrics.cancelled.inc({ deployment }),
  };
}

/**
 * Two metrics differ from Ray's. The wait counts from the arrival of the oldest member (Ray: from its pick-up). The queue length
 * is read when a batch ends (Ray: in each pass of its loop), so it is stale while idle.
 */
function registerMetrics(registry: MetricsRegistry) {
  const counter = (name: string, help: string) => registry.counter(name, help, DEPLOYMENT);
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    registry.histogram(name, help, DEPLOYMENT, buckets);
  return {
    waitTime: histogram('serve_batch_wait_time_ms', 'Arrival of the oldest member to cut.', DURATIONS_MS),
    executionTime: histogram('serve_batch_execution_time_ms', 'Cut to end of the handler.', DURATIONS_MS),
    queueLength: registry.gauge('serve_batch_queue_length', 'Waiting as a batch ended.', DEPLOYMENT),
    utilization: histogram('serve_batch_utilization_percent', 'Batch size / its limit.', PERCENTS),
    batchSize: histogram('serve_actual_batch_size', 'Requests, or what batchSizeFn says.', SIZES),
    processed: counter('serve_batches_processed_total', 'Batches run, failed or not.'),
    // Ray lacks the following.
    queueWait: histogram(
      'serve_request_queue_wait_time_ms',
      'Arrival of a request to the cut of its batch.',
      DURATIONS_MS,
    ),
    cut: registry.counter('serve_batches_cut_total', 'Batches run, by why they were cut.', [
      ...DEPLOYMENT,
      'reason',
    ]),
    failed: counter('serve_batches_failed_total', 'Batches run of which every member was rejected.'),
    cancelled: counter('serve_requests_cancelled_total', 'Requests cancelled by their caller.'),
    rejected: registry.counter('serve_requests_rejected_total', 'Requests refused on submission.', [
      ...DEPLOYMENT,
      'code',
    ]),
  };
}
