import type { Clock } from '../../batching/clock.ts';
import { LatencyWindow } from '../../batching/metrics/latency-window.ts';
import { StepHangError } from '../protocol/errors/runtime.ts';

const TICK_MS = 1000;
/** A shader that is compiled for the first time takes seconds, and on a loaded machine many; a long prompt on the CPU, a minute. */
const LEAST_PATIENCE_MS = 60_000;
/** Times what nearly all steps have taken so far: of the first few, the longest. */
const PATIENCE = 10;

/**
 * Tells of a step that does not end. Its timer runs only while a step does, and it counts ticks in which nothing ended
 * instead of reading a clock: the time that a machine sleeps is not the step's.
 */
export class StepWatchdog {
  readonly #clock: Clock;
  readonly #onHang: (error: StepHangError) => void;
  readonly #leastPatienceMs: number;
  readonly #stepMs = new LatencyWindow();
  #numInFlight = 0;
  #numSilentTicks = 0;
  #isTicking = false;

  constructor(
    clock: Clock,
    onHang: (error: StepHangError) => void,
    leastPatienceMs: number = LEAST_PATIENCE_MS,
  ) {
    this.#clock = clock;
    this.#onHang = onHang;
    this.#leastPatienceMs = leastPatienceMs;
  }

  get patienceMs(): number {
    return Math.max(this.#leastPatienceMs, PATIENCE * this.#stepMs.summary.p95);
  }

  /** A step begins; returns its end. */
  begin(): () => void {
    const startedAtMs = this.#clock.now();
    this.#numInFlight += 1;
    if (!this.#isTicking) this.#tick();
    return () => {
      this.#numInFlight -= 1;
      this.#numSilentTicks = 0;
      this.#stepMs.record(this.#clock.now() - startedAtMs);
    };
  }

  #tick(): void {
    this.#isTicking = true;
    this.#clock.setTimer(TICK_MS, () => {
      this.#isTicking = false;
      if (this.#numInFlight === 0) return;
      this.#numSilentTicks += 1;
      const { patienceMs } = this;
      if (this.#numSilentTicks * TICK_MS > patienceMs) this.#onHang(StepHangError.after(patienceMs));
      else this.#tick();
    });
  }
}
