import type { BatchEvent } from '../batch/batch-options.ts';
import type { HistogramMetric, MetricsRegistry } from './registry.ts';

/** What happens to the requests of a deployment and to the batches they are run in. */
export interface BatchMetrics {
  /** For each `BatchEvent`. Its `cancelled` is left out: `onCancelled` counts those, and the ones in a batch too. */
  onBatch(deployment: string, event: BatchEvent, queueLength: number): void;
  /** For each request handed to the handler: arrival -> cut. */
  onQueueWait(deployment: string, queueWaitMs: number): void;
  /** For each request refused at the door; `code` is that of the error. */
  onRejected(deployment: string, code: string): void;
  /** For each request that its caller cancelled, whether it waited or ran. */
  onCancelled(deployment: string): void;
}

// Bucket bounds are Ray's, so that its dashboards fit.
const DURATIONS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 5000, 10_000, 60_000, 120_000, 300_000, 600_000,
];
const PERCENTS = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 100];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * Ray's names without the `ray_` that its exporter puts before them. The label `deployment` also stands for Ray's
 * `function_name`: here a deployment has one batched handler, there a class may have several.
 */
const DEPLOYMENT = ['deployment'] as const;

/** Registers what it feeds, or feeds what the registry has under these names. */
export function createBatchMetrics(registry: MetricsRegistry): BatchMetrics {
  const ray = registerRayMetrics(registry);
  const own = registerOwnMetrics(registry);
  return {
    onBatch: (deployment, event, queueLength) => {
      const { reason, measuredSize, maxBatchSize, waitMs, executionMs, outcome } = event;
      ray.waitTime.observe({ deployment }, waitMs);
      ray.executionTime.observe({ deployment }, executionMs);
      ray.queueLength.set({ deployment }, queueLength);
      ray.utilization.observe({ deployment }, (measuredSize / maxBatchSize) * 100);
      ray.batchSize.observe({ deployment }, measuredSize);
      ray.processed.inc({ deployment });
      own.cut.inc({ deployment, reason });
      if (outcome === 'error') own.failed.inc({ deployment });
    },
    onQueueWait: (deployment, queueWaitMs) => own.queueWait.observe({ deployment }, queueWaitMs),
    onRejected: (deployment, code) => own.rejected.inc({ deployment, code }),
    onCancelled: (deployment) => own.cancelled.inc({ deployment }),
  };
}

/**
 * Two differ from Ray's by what they measure: the wait counts from the arrival of the oldest member (Ray: from its
 * pick-up), and the queue length is read when a batch ends (Ray: at each turn of its loop), so an idle one is stale.
 */
function registerRayMetrics(registry: MetricsRegistry) {
  const histogram = (name: string, help: string, buckets: readonly number[]): HistogramMetric<'deployment'> =>
    registry.histogram(name, help, DEPLOYMENT, buckets);
  return {
    waitTime: histogram('serve_batch_wait_time_ms', 'Arrival of the oldest member to cut.', DURATIONS_MS),
    executionTime: histogram('serve_batch_execution_time_ms', 'Cut to end of the handler.', DURATIONS_MS),
    queueLength: registry.gauge('serve_batch_queue_length', 'Waiting as a batch ended.', DEPLOYMENT),
    utilization: histogram('serve_batch_utilization_percent', 'Batch size / its limit.', PERCENTS),
    batchSize: histogram('serve_actual_batch_size', 'Requests, or what batchSizeFn says.', SIZES),
    processed: registry.counter('serve_batches_processed_total', 'Batches run, failed or not.', DEPLOYMENT),
  };
}

/** What Ray lacks. The batches cut, over all reasons, are the batches processed. */
function registerOwnMetrics(registry: MetricsRegistry) {
  const counter = <Label extends string = never>(
    name: string,
    help: string,
    ...labelNames: readonly Label[]
  ) => registry.counter(name, help, [...DEPLOYMENT, ...labelNames]);
  return {
    queueWait: registry.histogram(
      'serve_request_queue_wait_time_ms',
      'Arrival of a request to the cut of its batch.',
      DEPLOYMENT,
      DURATIONS_MS,
    ),
    cut: counter('serve_batches_cut_total', 'Batches run, by why they were cut.', 'reason'),
    failed: counter('serve_batches_failed_total', 'Batches run of which every member was rejected.'),
    cancelled: counter('serve_requests_cancelled_total', 'Requests cancelled by their caller.'),
    rejected: counter('serve_requests_rejected_total', 'Requests refused at the door.', 'code'),
  };
}
