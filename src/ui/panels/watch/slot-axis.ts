export const STEPS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300];

/** The least distance of two times, CSS pixels. */
export const TICK_DISTANCE = 72;

interface Tick {
  /** Seconds since the start of the run. */
  readonly seconds: number;
  readonly label: string;
}

/** Round times between two moments, with at most this many steps between them, but one. */
export function ticksBetween(startSeconds: number, endSeconds: number, maxSteps: number): readonly Tick[] {
  const span = endSeconds - startSeconds;
  const step = STEPS_S.find((candidate) => span / candidate <= Math.max(1, Math.floor(maxSteps))) ?? span;
  const ticks: Tick[] = [];
  // Counted in steps, because sums of 0.1 drift.
  for (let count = Math.ceil(startSeconds / step - 1e-6); count * step <= endSeconds + 1e-6; count += 1)
    ticks.push({ seconds: count * step, label: formatSeconds(count * step) });
  return ticks;
}

/** “0 s”, “0.2 s”, “12 s”, “1:05”. */
export function formatSeconds(seconds: number): string {
  if (seconds < 59.995) return `${Number(seconds.toFixed(2))} s`;
  const hundredths = Math.round(seconds * 100);
  const [minutes, rest] = [Math.floor(hundredths / 6000), (hundredths % 6000) / 100];
  return `${minutes}:${rest < 10 ? '0' : ''}${rest}`;
}
