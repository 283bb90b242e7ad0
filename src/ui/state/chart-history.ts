import type { PolicyName, TabserveStats } from '../../client/index.ts';
import type { RunLatencies } from './run-summary.ts';
import { SlotHistory } from './slot-history.ts';

const SAMPLE_INTERVAL_MS = 200;
/** Delayed messages arrive together, so the time between them gives no rate. */
const MIN_RATE_INTERVAL_MS = 50;
/** The longest window of the charts, s. */
const MAX_WINDOW_SECONDS = 300;
const MAX_SAMPLES = (MAX_WINDOW_SECONDS * 1000) / SAMPLE_INTERVAL_MS;
/** A longer pause between messages was idle time, where the lines break. */
const IDLE_GAP_MS = 3000;

/** `null` draws a gap. */
export type Cell = number | null;

type KeptStats = Pick<TabserveStats, 'kvCache' | 'totals'>;

/** With the latencies of the run so far, and the numbers of sequences that ended, by their reason. */
export interface SampleFigures extends KeptStats, RunLatencies, Readonly<TabserveStats['finishReasons']> {
  readonly tokensInPerSecond: Cell;
  readonly tokensOutPerSecond: Cell;
  /** How full the decode steps since the last sample were, weighed by their time, %. */
  readonly utilization: Cell;
}

export interface Sample {
  /** On this tab's clock. */
  readonly atMs: number;
  /** Undefined where idle time begins. */
  readonly figures?: SampleFigures;
}

/** From when on a policy was in force, a load test's included. */
export interface PolicyChange {
  readonly atMs: number;
  readonly policy: PolicyName;
}

const MAX_POLICY_CHANGES = 200;

/** A message that was recorded, when it was sent on this tab's clock, and the limit in force. */
export interface RecordedMessage {
  readonly stats: TabserveStats;
  readonly sentAtMs: number;
  readonly maxBatchSize: number;
}

/** The data of the charts. It changes in place; the view counts its revisions. */
export class ChartHistory {
  readonly slots = new SlotHistory();
  readonly #samples: Sample[] = [];
  readonly #policies: PolicyChange[] = [];
  /** Since the last sample: time in decode steps, and the same weighted by batch utilization. */
  #decodeMs = 0;
  #filledMs = 0;

  /** One for each interval with work, and one for the end of the work. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** Oldest first. */
  get policies(): readonly PolicyChange[] {
    return this.#policies;
  }

  recordPolicy(policy: PolicyName, atMs: number): void {
    if (this.#policies.at(-1)?.policy !== policy) this.#policies.push({ policy, atMs });
    this.#policies.splice(0, this.#policies.length - MAX_POLICY_CHANGES);
  }

  /** Call it with each message that the slots have recorded. @param readLatencies Called where a sample is due. */
  sample({ stats, sentAtMs, maxBatchSize }: RecordedMessage, readLatencies: () => RunLatencies): void {
    for (const { kind, batchSize, stepMs } of stats.steps) {
      if (kind !== 'decode') continue;
      this.#decodeMs += stepMs;
      this.#filledMs += stepMs * Math.min(1, batchSize / maxBatchSize);
    }
    const last = this.#samples.at(-1);
    const elapsedMs = last ? sentAtMs - last.atMs : Infinity;
    // A message of an idle engine may be the last for a long time.
    const isIdle = stats.numRunning + stats.numWaiting === 0;
    if (elapsedMs < SAMPLE_INTERVAL_MS && !isIdle) return;
    const isAfterGap = elapsedMs > IDLE_GAP_MS;
    if (last && isAfterGap) this.#samples.push({ atMs: last.atMs + 1 });
    const { totals, finishReasons, kvCache } = stats;
    const isRateKnown = elapsedMs >= MIN_RATE_INTERVAL_MS && !isAfterGap;
    // A new worker's totals start at 0.
    const rate = (total: 'promptTokens' | 'outputTokens'): Cell => {
      const numNew = totals[total] - (last?.figures?.totals[total] ?? Infinity);
      return isRateKnown && numNew >= 0 ? (numNew * 1000) / elapsedMs : null;
    };
    const figures: SampleFigures = {
      ...readLatencies(),
      kvCache,
      ...finishReasons,
      totals,
      tokensInPerSecond: rate('promptTokens'),
      // Without a previous sample, the worker's own rate over its last second of work.
      tokensOutPerSecond:
        rate('outputTokens') ?? (stats.steps.length > 0 ? stats.tokensPerSecond || null : null),
      utilization: this.#decodeMs > 0 ? (this.#filledMs / this.#decodeMs) * 100 : null,
    };
    this.#samples.push({ atMs: sentAtMs, figures });
    this.#samples.splice(0, this.#samples.length - MAX_SAMPLES);
    this.#decodeMs = 0;
    this.#filledMs = 0;
  }
}
