import type { Clock } from '../../../batching/base/clock.ts';

interface Sample {
  readonly atMs: number;
  readonly loaded: number;
}

const WINDOW_MS = 5000;
/** Over a shorter time, a single chunk would change the speed too much. */
const SHORTEST_SPAN_MS = 250;

/**
 * The speed of a phase over the last seconds.
 *
 * @param loaded Bytes or steps at its beginning.
 */
export function createProgressMeter(clock: Clock, loaded: number) {
  const samples: Sample[] = [{ atMs: clock.now(), loaded }];
  return {
    record(latest: number): void {
      samples.push({ atMs: clock.now(), loaded: latest });
    },

    /** Bytes or steps per second: 0 at the beginning, and when the phase stalls. */
    perSecond(): number {
      const nowMs = clock.now();
      // The last one before the window tells how much there was at its beginning.
      while (samples[1] && samples[1].atMs <= nowMs - WINDOW_MS) samples.shift();
      const [first] = samples;
      const last = samples.at(-1);
      if (!first || !last) return 0;
      const spanMs = Math.min(nowMs - first.atMs, WINDOW_MS);
      return spanMs < SHORTEST_SPAN_MS ? 0 : (1000 * (last.loaded - first.loaded)) / spanMs;
    },
  };
}
