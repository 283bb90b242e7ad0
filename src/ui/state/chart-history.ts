import type { LatencySummary, ServeStats } from '../../worker/protocol.ts';
import { RingColumns } from './ring-columns.ts';

const MAX_STEPS = 600;
const MAX_LATENCY_SAMPLES = 600;
const LATENCY_SAMPLE_INTERVAL_MS = 200;
/** A silence longer than this was idle time: the latency lines break instead of bridging it. */
const IDLE_GAP_MS = 3000;

/** What the charts draw, in columns. Mutable on purpose: the store only counts its revisions. */
export class ChartHistory {
  /** Step index, decode batch size, prefill batch size, queue length. */
  readonly steps = new RingColumns(4, MAX_STEPS);
  /** Seconds on this tab's clock, TTFT p50, TTFT p95, ITL p50, ITL p95 in ms. */
  readonly latency = new RingColumns(5, MAX_LATENCY_SAMPLES);
  #lastSampleAtMs = Number.NEGATIVE_INFINITY;

  record(stats: ServeStats, receivedAtMs: number): void {
    for (const { stepIndex, kind, batchSize, queueLength } of stats.steps) {
      const isDecode = kind === 'decode';
      this.steps.push([stepIndex, isDecode ? batchSize : null, isDecode ? null : batchSize, queueLength]);
    }
    this.#sampleLatency(stats, receivedAtMs);
  }

  #sampleLatency({ ttftMs, itlMs }: ServeStats, receivedAtMs: number): void {
    const silenceMs = receivedAtMs - this.#lastSampleAtMs;
    if (ttftMs.count === 0 || silenceMs < LATENCY_SAMPLE_INTERVAL_MS) return;
    if (this.latency.length > 0 && silenceMs > IDLE_GAP_MS) {
      this.latency.push([(this.#lastSampleAtMs + 1) / 1000, null, null, null, null]);
    }
    this.latency.push([receivedAtMs / 1000, ...percentiles(ttftMs), ...percentiles(itlMs)]);
    this.#lastSampleAtMs = receivedAtMs;
  }
}

/** Zero would not fit on the latency chart's logarithmic axis, and means "no sample" here. */
function percentiles({ p50, p95 }: LatencySummary): (number | null)[] {
  return [p50 > 0 ? p50 : null, p95 > 0 ? p95 : null];
}
