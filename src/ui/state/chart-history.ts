import type { LatencySummary, ServeStats } from '../../worker/protocol/stats.ts';
import { RingColumns, type Cell } from './ring-columns.ts';
import { SlotHistory } from './slot-history.ts';

const MAX_STEPS = 600;
const SAMPLE_INTERVAL_MS = 200;
/** Delayed messages arrive together, so the time between them gives no rate. */
const MIN_RATE_INTERVAL_MS = 50;
/** The longest window of the charts, s. */
export const MAX_WINDOW_SECONDS = 300;
const BYTES_PER_MIB = 2 ** 20;
/** A longer pause between messages was idle time, where the lines break. */
const IDLE_GAP_MS = 3000;

/** The columns of the step table. Seconds are on this tab's clock; the index counts on across workers. */
const STEP_COLUMNS = ['stepIndex', 'decode', 'prefill', 'waiting', 'seconds'] as const;

/** The columns of the sample table: latencies in ms, utilization in %, memory in MiB, ends since the worker's start. */
const SAMPLE_COLUMNS = [
  'seconds',
  ...(['ttft', 'itl', 'queueWait', 'e2e'] as const).flatMap(
    (name) => [`${name}P50`, `${name}P95`, `${name}P99`] as const,
  ),
  'tokensInPerSecond',
  'tokensOutPerSecond',
  'utilization',
  'kvUsed',
  'kvReserved',
  'stop',
  'length',
  'abort',
  'error',
  'rejected',
] as const;

export type SampleColumn = (typeof SAMPLE_COLUMNS)[number];

/** The data of the charts, in columns. Mutable; the store counts its revisions. */
export class ChartHistory {
  readonly steps = new RingColumns(STEP_COLUMNS, MAX_STEPS);
  /** One row for each interval with work, and one for the end of the work. */
  readonly samples = new RingColumns(SAMPLE_COLUMNS, (MAX_WINDOW_SECONDS * 1000) / SAMPLE_INTERVAL_MS);
  readonly slots = new SlotHistory();
  /** Added to a step's index, because a new engine counts from 0 again and a chart's x must ascend. */
  #stepOffset = 0;
  #last: { readonly atMs: number; readonly totals: ServeStats['totals'] } | undefined;
  /** Since the last sample: time in decode steps, and the same weighted by batch utilization. */
  #decodeMs = 0;
  #filledMs = 0;

  record(stats: ServeStats, receivedAtMs: number, maxBatchSize: number): void {
    for (const { stepIndex, kind, batchSize, queueLength, stepMs, agoMs } of stats.steps) {
      const isDecode = kind === 'decode';
      const seconds = (receivedAtMs - agoMs) / 1000;
      this.steps.push([
        this.#indexOnward(stepIndex),
        isDecode ? batchSize : null,
        isDecode ? null : batchSize,
        queueLength,
        seconds,
      ]);
      if (!isDecode) continue;
      this.#decodeMs += stepMs;
      this.#filledMs += stepMs * Math.min(1, batchSize / maxBatchSize);
    }
    this.slots.record(stats, receivedAtMs);
    this.#sample(stats, receivedAtMs);
  }

  #indexOnward(stepIndex: number): number {
    const last = this.steps.last('stepIndex') ?? -1;
    if (stepIndex + this.#stepOffset <= last) this.#stepOffset = last + 1 - stepIndex;
    return stepIndex + this.#stepOffset;
  }

  #sample(stats: ServeStats, receivedAtMs: number): void {
    const last = this.#last;
    const elapsedMs = last ? receivedAtMs - last.atMs : Infinity;
    // A message of an engine at rest may be the last for a long time.
    const isAtRest = stats.numRunning + stats.numWaiting === 0;
    if (elapsedMs < SAMPLE_INTERVAL_MS && !isAtRest) return;
    const isAfterGap = elapsedMs > IDLE_GAP_MS;
    if (last && isAfterGap) this.samples.push([(last.atMs + 1) / 1000]);
    const { totals, finishReasons, kvCache, ttftMs, itlMs, queueWaitMs, e2eMs } = stats;
    const isRateKnown = elapsedMs >= MIN_RATE_INTERVAL_MS && !isAfterGap;
    // A new worker's totals start at 0.
    const rate = (total: 'promptTokens' | 'outputTokens'): Cell =>
      last && isRateKnown && totals[total] >= last.totals[total]
        ? ((totals[total] - last.totals[total]) * 1000) / elapsedMs
        : null;
    this.samples.push([
      receivedAtMs / 1000,
      ...[ttftMs, itlMs, queueWaitMs, e2eMs].flatMap(percentiles),
      rate('promptTokens'),
      // Without a previous sample, the worker's own rate over its last second of work.
      rate('outputTokens') ?? (stats.steps.length > 0 ? stats.tokensPerSecond || null : null),
      this.#decodeMs > 0 ? (this.#filledMs / this.#decodeMs) * 100 : null,
      kvCache.usedBytes / BYTES_PER_MIB,
      kvCache.reservedBytes / BYTES_PER_MIB,
      finishReasons.stop,
      finishReasons.length,
      finishReasons.abort,
      finishReasons.error,
      totals.rejected,
    ]);
    this.#last = { atMs: receivedAtMs, totals };
    this.#decodeMs = 0;
    this.#filledMs = 0;
  }
}

/** Zero means no sample, and has no place on a logarithmic axis. */
function percentiles({ p50, p95, p99 }: LatencySummary): Cell[] {
  return [p50, p95, p99].map((value) => (value > 0 ? value : null));
}
