import type { Clock } from '../../../batching/clock.ts';

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** What came longer ago says nothing about what is left. */
const WINDOW_MS = 5000;
/** A chunk more or less in a shorter time would be a speed of its own. */
const SHORTEST_SPAN_MS = 250;

/** How fast bytes come, over the last few seconds. */
export class TransferMeter {
  readonly #clock: Clock;
  readonly #samples: Sample[] = [];
  readonly #startedAtMs: number;
  #bytesInWindow = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.now();
  }

  record(bytes: number): void {
    this.#samples.push({ atMs: this.#clock.now(), bytes });
    this.#bytesInWindow += bytes;
  }

  /** 0 until enough has come, and once nothing comes any more. */
  get bytesPerSecond(): number {
    const nowMs = this.#clock.now();
    for (let [oldest] = this.#samples; oldest && oldest.atMs < nowMs - WINDOW_MS; [oldest] = this.#samples) {
      this.#samples.shift();
      this.#bytesInWindow -= oldest.bytes;
    }
    const spanMs = Math.min(nowMs - this.#startedAtMs, WINDOW_MS);
    return spanMs < SHORTEST_SPAN_MS ? 0 : (1000 * this.#bytesInWindow) / spanMs;
  }

  /** Undefined while the speed is not known. */
  secondsFor(bytes: number): number | undefined {
    const speed = this.bytesPerSecond;
    return speed > 0 ? bytes / speed : undefined;
  }
}
