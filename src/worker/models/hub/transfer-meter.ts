import type { Clock } from '../../../batching/clock.ts';

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

const WINDOW_MS = 5000;
/** Over a shorter time, a single chunk would change the speed too much. */
const SHORTEST_SPAN_MS = 250;

/** The speed of a download over the last seconds. */
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

  /** 0 at the beginning, and when the download stalls. */
  get bytesPerSecond(): number {
    const nowMs = this.#clock.now();
    for (let [oldest] = this.#samples; oldest && oldest.atMs < nowMs - WINDOW_MS; [oldest] = this.#samples) {
      this.#samples.shift();
      this.#bytesInWindow -= oldest.bytes;
    }
    const spanMs = Math.min(nowMs - this.#startedAtMs, WINDOW_MS);
    return spanMs < SHORTEST_SPAN_MS ? 0 : (1000 * this.#bytesInWindow) / spanMs;
  }

  /** Undefined while the speed is 0. */
  secondsFor(bytes: number): number | undefined {
    const speed = this.bytesPerSecond;
    return speed > 0 ? bytes / speed : undefined;
  }
}
