import type { Clock } from '../batching/base/clock.ts';
import type { FailedEvent, StepEvent } from '../batching/generation/events.ts';
import type {
  EngineGauges,
  GenerationMetrics,
  MeasuredEvent,
} from '../batching/metrics/generation-metrics.ts';
import { LatencyWindow } from '../batching/metrics/latency-window.ts';
import { TokenRate } from '../batching/metrics/token-rate.ts';
import type { TabserveStats, StepRecord } from './stats.ts';
import { SlotLog } from './slot-log.ts';

interface StatsSink {
  readonly gauges: () => EngineGauges;
  readonly send: (stats: TabserveStats) => void;
}

/** Time between two messages. */
const INTERVAL_MS = 100;
/** The token rate falls to 0 this long after the last work. */
const IDLE_MS = 2000;

/**
 * Feeds the engine's events to the metrics, and sends them as one stats message at most every 100 ms. After the
 * step that leaves the engine idle, it sends at once if the last message is 100 ms old.
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
  #cancelIdleMessage: (() => void) | undefined;
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
   * Records the events of a server, which has no steps.
   *
   * @param busyMs Time that the server took.
   */
  recordMeasured(events: readonly MeasuredEvent[], busyMs: number): void {
    this.#metrics.onEvents(events, this.#sink.gauges());
    this.#recordAll(events, busyMs);
    this.#sendSoon();
  }

  /** The gauges may have changed without a step: by a changed policy, or since memory was given back behind the last step. */
  recordGauges(): void {
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
      case 'token-scored':
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
    }
  }

  #sendSoon(): void {
    this.#cancelIdleMessage?.();
    this.#cancelIdleMessage = undefined;
    this.#cancelTimer ??= this.#clock.setTimer(INTERVAL_MS, () => this.#sendNow());
  }

  /** Sends one more message after the work, with a token rate of 0. */
  #scheduleIdleMessage(): void {
    this.#cancelIdleMessage = this.#clock.setTimer(IDLE_MS, () => {
      this.#cancelIdleMessage = undefined;
      this.#tokenRate = new TokenRate();
      this.#sendNow();
    });
  }

  #sendNow(): void {
    const nowMs = this.#clock.now();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sentAtMs = nowMs;
    this.#cancelIdleMessage?.();
    this.#cancelIdleMessage = undefined;
    const gauges = this.#sink.gauges();
    const { tokensPerSecond } = this.#tokenRate;
    const steps = this.#steps.map((event) => stepRecordOf(event, nowMs));
    this.#steps = [];
    this.#sink.send({
      ...gauges,
      workerStartedAtMs: performance.timeOrigin,
      sentAtMs: nowMs,
      steps,
      slotSpans: this.#slots.take(nowMs),
      tokensPerSecond,
      ttftMs: this.#ttft.summary,
      itlMs: this.#itl.summary,
      queueWaitMs: this.#queueWait.summary,
      e2eMs: this.#e2e.summary,
      finishReasons: { ...this.#finishReasons },
      totals: { ...this.#totals },
    });
    if (gauges.numRunning + gauges.numWaiting === 0 && tokensPerSecond > 0) this.#scheduleIdleMessage();
  }
}

/** Leaves out the events of requests, which are sent as updates. */
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
