import type { Clock } from '../../../batching/clock.ts';
import type { LoadStage } from '../../../protocol/models.ts';

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

const WINDOW_MS = 5000;
/** Over a shorter time, a single chunk would change the speed too much. */
const SHORTEST_SPAN_MS = 250;

/** The speed of a download over the last seconds. */
export function createTransferMeter(clock: Clock) {
  const samples: Sample[] = [];
  const startedAtMs = clock.now();
  let bytesInWindow = 0;
  return {
    record(bytes: number): void {
      samples.push({ atMs: clock.now(), bytes });
      bytesInWindow += bytes;
    },

    /** The speed, and the time that so many bytes take at it. The speed is 0 at the beginning, and when the download stalls. */
    speedFor(numBytes: number): Pick<LoadStage, 'bytesPerSecond' | 'secondsLeft'> {
      const nowMs = clock.now();
      for (let [oldest] = samples; oldest && oldest.atMs < nowMs - WINDOW_MS; [oldest] = samples) {
        samples.shift();
        bytesInWindow -= oldest.bytes;
      }
      const spanMs = Math.min(nowMs - startedAtMs, WINDOW_MS);
      const bytesPerSecond = spanMs < SHORTEST_SPAN_MS ? 0 : (1000 * bytesInWindow) / spanMs;
      return { bytesPerSecond, ...(bytesPerSecond > 0 && { secondsLeft: numBytes / bytesPerSecond }) };
    },
  };
}
