import { describe, expect, it } from 'vitest';
import type { BatchEvent } from '../batch/batch-options.ts';
import { createBatchMetrics, type BatchMetrics } from './batch-metrics.ts';
import { toPrometheusText } from './prometheus.ts';
import { MetricsRegistry } from './registry.ts';

interface Rig {
  readonly registry: MetricsRegistry;
  readonly metrics: BatchMetrics;
  /** Every line of the exposition that begins with this and says something else than 0. */
  readonly lines: (prefix: string) => string[];
}

function createRig(): Rig {
  const registry = new MetricsRegistry();
  const metrics = createBatchMetrics(registry);
  const lines = (prefix: string): string[] =>
    toPrometheusText(registry.snapshot())
      .split('\n')
      .filter((line) => line.startsWith(prefix) && !line.endsWith(' 0'));
  return { registry, metrics, lines };
}

function createEvent(overrides: Partial<BatchEvent> = {}): BatchEvent {
  return {
    reason: 'full',
    batchSize: 4,
    measuredSize: 4,
    maxBatchSize: 4,
    waitMs: 12,
    executionMs: 200,
    cancelled: 0,
    outcome: 'ok',
    ...overrides,
  };
}

/** Upper bounds as the exposition gives them. */
function bucketsOf({ registry }: Rig, name: string): string[] {
  const text = toPrometheusText(registry.snapshot());
  return Array.from(text.matchAll(new RegExp(`^${name}_bucket.*le="([^"]+)"`, 'gm')), ([, le]) => le ?? '');
}

describe('createBatchMetrics', () => {
  it("has Ray's six metrics with Ray's types, and what Ray lacks", () => {
    const { registry } = createRig();
    expect(registry.snapshot().map(({ name, type }) => `${name} ${type}`)).toEqual([
      'serve_batch_wait_time_ms histogram',
      'serve_batch_execution_time_ms histogram',
      'serve_batch_queue_length gauge',
      'serve_batch_utilization_percent histogram',
      'serve_actual_batch_size histogram',
      'serve_batches_processed_total counter',
      'serve_request_queue_wait_time_ms histogram',
      'serve_batches_cut_total counter',
      'serve_batches_failed_total counter',
      'serve_requests_cancelled_total counter',
      'serve_requests_rejected_total counter',
    ]);
  });

  it("has Ray's buckets", () => {
    const rig = createRig();
    rig.metrics.onBatch('adder', createEvent(), 0);
    rig.metrics.onQueueWait('adder', 1);
    const durations =
      '1 2 5 10 20 50 100 200 300 400 500 1000 2000 5000 10000 60000 120000 300000 600000 +Inf';
    expect(bucketsOf(rig, 'serve_batch_wait_time_ms').join(' ')).toBe(durations);
    expect(bucketsOf(rig, 'serve_batch_execution_time_ms').join(' ')).toBe(durations);
    expect(bucketsOf(rig, 'serve_request_queue_wait_time_ms').join(' ')).toBe(durations);
    expect(bucketsOf(rig, 'serve_batch_utilization_percent').join(' ')).toBe(
      '5 10 20 30 40 50 60 70 80 90 95 99 100 +Inf',
    );
    expect(bucketsOf(rig, 'serve_actual_batch_size').join(' ')).toBe(
      '1 2 4 8 16 32 64 128 256 512 1024 +Inf',
    );
  });

  it('records the wait, execution, size and use of each batch, and the queue it leaves', () => {
    const { metrics, lines } = createRig();
    metrics.onBatch('adder', createEvent({ waitMs: 12, executionMs: 200 }), 5);
    metrics.onBatch('adder', createEvent({ waitMs: 3, executionMs: 100, measuredSize: 1 }), 2);
    expect(lines('serve_batch_wait_time_ms_sum')).toEqual([
      'serve_batch_wait_time_ms_sum{deployment="adder"} 15',
    ]);
    expect(lines('serve_batch_execution_time_ms_sum')).toEqual([
      'serve_batch_execution_time_ms_sum{deployment="adder"} 300',
    ]);
    expect(lines('serve_batch_queue_length')).toEqual(['serve_batch_queue_length{deployment="adder"} 2']);
    expect(lines('serve_batch_utilization_percent_sum')).toEqual([
      'serve_batch_utilization_percent_sum{deployment="adder"} 125',
    ]);
    expect(lines('serve_batch_utilization_percent_bucket{deployment="adder",le="100"}')).toEqual([
      'serve_batch_utilization_percent_bucket{deployment="adder",le="100"} 2',
    ]);
    expect(lines('serve_actual_batch_size_sum')).toEqual([
      'serve_actual_batch_size_sum{deployment="adder"} 5',
    ]);
  });

  it('takes size and use from what batchSizeFn measured, as Ray does', () => {
    const { metrics, lines } = createRig();
    metrics.onBatch('texts', createEvent({ batchSize: 3, measuredSize: 384, maxBatchSize: 512 }), 0);
    expect(lines('serve_actual_batch_size_sum')).toEqual([
      'serve_actual_batch_size_sum{deployment="texts"} 384',
    ]);
    expect(lines('serve_batch_utilization_percent_sum')).toEqual([
      'serve_batch_utilization_percent_sum{deployment="texts"} 75',
    ]);
  });

  it('counts each batch once as processed and once under the reason it was cut for', () => {
    const { metrics, lines } = createRig();
    for (const reason of ['full', 'timeout', 'full'] as const)
      metrics.onBatch('adder', createEvent({ reason }), 0);
    expect(lines('serve_batches_')).toEqual([
      'serve_batches_cut_total{deployment="adder",reason="full"} 2',
      'serve_batches_cut_total{deployment="adder",reason="timeout"} 1',
      'serve_batches_processed_total{deployment="adder"} 3',
    ]);
  });

  it('counts a batch that failed as processed too', () => {
    const { metrics, lines } = createRig();
    metrics.onBatch('adder', createEvent({ outcome: 'error' }), 0);
    metrics.onBatch('adder', createEvent({ outcome: 'ok' }), 0);
    expect(lines('serve_batches_failed_total')).toEqual(['serve_batches_failed_total{deployment="adder"} 1']);
    expect(lines('serve_batches_processed_total')).toEqual([
      'serve_batches_processed_total{deployment="adder"} 2',
    ]);
  });

  it('records the queue wait of each request', () => {
    const { metrics, lines } = createRig();
    metrics.onQueueWait('adder', 4);
    metrics.onQueueWait('adder', 8);
    expect(lines('serve_request_queue_wait_time_ms_bucket{deployment="adder",le="5"}')).toEqual([
      'serve_request_queue_wait_time_ms_bucket{deployment="adder",le="5"} 1',
    ]);
    expect(lines('serve_request_queue_wait_time_ms_count')).toEqual([
      'serve_request_queue_wait_time_ms_count{deployment="adder"} 2',
    ]);
  });

  it('counts rejected requests by code and cancelled ones, the latter never twice', () => {
    const { metrics, lines } = createRig();
    metrics.onRejected('adder', 'BACK_PRESSURE');
    metrics.onRejected('adder', 'BACK_PRESSURE');
    metrics.onRejected('adder', 'ITEM_TOO_LARGE');
    metrics.onCancelled('adder');
    metrics.onBatch('adder', createEvent({ cancelled: 1 }), 0);
    expect(lines('serve_requests_')).toEqual([
      'serve_requests_cancelled_total{deployment="adder"} 1',
      'serve_requests_rejected_total{code="BACK_PRESSURE",deployment="adder"} 2',
      'serve_requests_rejected_total{code="ITEM_TOO_LARGE",deployment="adder"} 1',
    ]);
  });

  it('keeps deployments apart, and shares a registry with another that feeds it', () => {
    const { registry, metrics, lines } = createRig();
    metrics.onBatch('adder', createEvent(), 0);
    createBatchMetrics(registry).onBatch('house-price', createEvent(), 0);
    createBatchMetrics(registry).onBatch('adder', createEvent(), 0);
    expect(lines('serve_batches_processed_total')).toEqual([
      'serve_batches_processed_total{deployment="adder"} 2',
      'serve_batches_processed_total{deployment="house-price"} 1',
    ]);
  });
});
