import { systemClock, type Clock } from '../../../batching/base/clock.ts';
import { LatencyWindow } from '../../../batching/metrics/latency-window.ts';
import { StepHangError } from './runtime-errors.ts';

const TICK_MS = 1000;
/** The first compilation of a shader takes many seconds on a loaded machine, a long prompt on the CPU a minute. */
const LEAST_PATIENCE_MS = 60_000;
/** Times the 95th percentile of the steps so far. */
const PATIENCE_FACTOR = 10;

/**
 * Reports a step that hangs. The timer runs only during steps. It counts ticks in which no step ended instead of reading a
 * clock, so the time that a machine sleeps does not count.
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
    return Math.max(this.#leastPatienceMs, PATIENCE_FACTOR * this.#stepMs.summary.p95);
  }

  /** Called when a step begins. @returns A function to call when the step ends. */
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

/**
 * Awaits the work with a timeout. Time in which the worker is blocked or the machine sleeps does not count.
 *
 * @throws StepHangError after `patienceMs`; the work may still go on then.
 */
export async function orHang<Result>(work: Promise<Result>, patienceMs: number): Promise<Result> {
  const { promise: hang, reject } = Promise.withResolvers<never>();
  const end = new StepWatchdog(systemClock, reject, patienceMs).begin();
  try {
    return await Promise.race([work, hang]);
  } finally {
    end();
  }
}
