import type { Clock } from '../../batching/clock.ts';
import type { FailedEvent, StepEvent } from '../../batching/generation/events.ts';
import type {
  EngineGauges,
  GenerationMetrics,
  MeasuredEvent,
} from '../../batching/metrics/generation-metrics.ts';
import { LatencyWindow } from '../../batching/metrics/latency-window.ts';
import { TokenRate } from '../../batching/metrics/token-rate.ts';
import type { ServeStats, StepRecord } from '../protocol/protocol.ts';
import { SlotLog } from './slot-log.ts';

interface StatsSink {
  readonly gauges: () => EngineGauges;
  readonly send: (stats: ServeStats) => void;
}

/** Charts need no more than this; between two messages the steps are collected. */
const INTERVAL_MS = 100;
/** After so long without work the rate of the last work is history, and falls to 0. */
const REST_MS = 2000;

/**
 * Collects what the engine reports, for the metrics and as one stats message at most every 100 ms. The step after which the
 * engine is idle is told of at once, where the last message is old enough.
 */
export class StatsReporter {
  readonly #clock: Clock;
  readonly #metrics: GenerationMetrics;
  readonly #sink: StatsSink;
  readonly #ttft = new LatencyWindow();
  readonly #itl = new LatencyWindow();
  readonly #queueWait = new LatencyWindow();
  readonly #e2e = new LatencyWindow();
  #tokenRate = new TokenRate();
  readonly #totals = {
    submitted: 0,
    finished: 0,
    cancelled: 0,
    failed: 0,
    rejected: 0,
    promptTokens: 0,
    outputTokens: 0,
    prefixCacheQueries: 0,
    prefixCacheHits: 0,
  };
  readonly #finishReasons = { stop: 0, length: 0, abort: 0, error: 0 };
  readonly #slots = new SlotLog();
  #steps: StepEvent[] = [];
  #cancelTimer: (() => void) | undefined;
  #cancelRest: (() => void) | undefined;
  #sentAtMs = -Infinity;

  constructor(clock: Clock, metrics: GenerationMetrics, sink: StatsSink) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#sink = sink;
  }

  recordSubmitted(numPromptTokens: number, numSequences: number): void {
    this.#totals.submitted += numSequences;
    this.#totals.promptTokens += numPromptTokens;
    this.#metrics.onSubmitted(numPromptTokens);
    this.#sendSoon();
  }

  recordRejected(code: string): void {
    this.#totals.rejected += 1;
    this.#metrics.onRejected(code);
    this.#sendSoon();
  }

  recordStep(event: StepEvent): void {
    this.#metrics.onStep(event, this.#sink.gauges());
    this.#steps.push(event);
    this.#recordAll(event.requests, event.stepMs);
    this.#slots.recordStep(event);
    const { numRunning, numWaiting } = this.#sink.gauges();
    if (numRunning + numWaiting === 0 && this.#clock.now() - this.#sentAtMs >= INTERVAL_MS) this.#sendNow();
    else this.#sendSoon();
  }

  recordEnded(events: readonly FailedEvent[]): void {
    this.#metrics.onEvents(events, this.#sink.gauges());
    const nowMs = this.#clock.now();
    for (const event of events) {
      this.#record(event);
      this.#slots.recordEnd(event, nowMs);
    }
    this.#sendSoon();
  }

  /**
   * What came from elsewhere: there are no steps to see.
   *
   * @param busyMs What it took.
   */
  recordMeasured(events: readonly MeasuredEvent[], busyMs: number): void {
    this.#metrics.onEvents(events, this.#sink.gauges());
    this.#recordAll(events, busyMs);
    this.#sendSoon();
  }

  #recordAll(events: readonly MeasuredEvent[], stepMs: number): void {
    const numTokens = events.filter(({ type }) => type === 'token').length;
    this.#tokenRate.record({ numTokens, stepMs });
    this.#totals.outputTokens += numTokens;
    for (const event of events) this.#record(event);
  }

  #record(event: MeasuredEvent): void {
    switch (event.type) {
      case 'started':
        this.#queueWait.record(event.queueWaitMs);
        this.#totals.prefixCacheQueries += event.numPrefillTokens;
        this.#totals.prefixCacheHits += event.numReusedTokens;
        break;
      case 'prompt-scored':
        break;
      case 'token':
        if (event.ttftMs !== undefined) this.#ttft.record(event.ttftMs);
        if (event.itlMs !== undefined) this.#itl.record(event.itlMs);
        break;
      case 'finished':
        this.#e2e.record(event.timings.e2eMs);
        this.#totals.finished += 1;
        this.#finishReasons[event.finishReason] += 1;
        break;
      case 'failed':
        this.#totals[event.finishReason === 'abort' ? 'cancelled' : 'failed'] += 1;
        this.#finishReasons[event.finishReason] += 1;
        break;
      default:
        event satisfies never;
    }
  }

  #sendSoon(): void {
    this.#cancelRest?.();
    this.#cancelRest = undefined;
    this.#cancelTimer ??= this.#clock.setTimer(INTERVAL_MS, () => this.#sendNow());
  }

  /** One more message after the work: it says that nothing is generated now. */
  #restSoon(): void {
    this.#cancelRest = this.#clock.setTimer(REST_MS, () => {
      this.#cancelRest = undefined;
      this.#tokenRate = new TokenRate();
      this.#sendNow();
    });
  }

  #sendNow(): void {
    const nowMs = this.#clock.now();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sentAtMs = nowMs;
    this.#cancelRest?.();
    this.#cancelRest = undefined;
    const gauges = this.#sink.gauges();
    const { tokensPerSecond } = this.#tokenRate;
    const steps = this.#steps.map((event) => stepRecordOf(event, nowMs));
    this.#steps = [];
    this.#sink.send({
      ...gauges,
      steps,
      slotStays: this.#slots.take(nowMs),
      tokensPerSecond,
      ttftMs: this.#ttft.summary,
      itlMs: this.#itl.summary,
      queueWaitMs: this.#queueWait.summary,
      e2eMs: this.#e2e.summary,
      finishReasons: { ...this.#finishReasons },
      totals: { ...this.#totals },
    });
    if (gauges.numRunning + gauges.numWaiting === 0 && tokensPerSecond > 0) this.#restSoon();
  }
}

/** Without what the step brought each request: that goes out with the updates. */
function stepRecordOf({ requests, rows, endedAtMs, ...step }: StepEvent, nowMs: number): StepRecord {
  const waitsMs = requests.flatMap((event) => (event.type === 'started' ? [event.queueWaitMs] : []));
  const numFailed = requests.filter(({ type }) => type === 'failed').length;
  return {
    ...step,
    waitMs: Math.max(0, ...waitsMs),
    outcome: rows.length > 0 && numFailed === rows.length ? 'error' : 'ok',
    slots: rows.map(({ slot }) => slot),
    agoMs: nowMs - endedAtMs,
  };
}
