/** Time, injected: the core never reads a platform clock by itself. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `fire` once, no earlier than `delayMs` from now. Returns a function that cancels it. */
  setTimer(delayMs: number, fire: () => void): () => void;
}

// The core compiles without DOM or Node types; these are the only platform names that it looks up.
interface PlatformTime {
  readonly performance: { now(): number };
  readonly setTimeout: (fire: () => void, delayMs: number) => unknown;
  clearTimeout(timer: unknown): void;
}

/** Timers beyond this delay fire at once on every platform, so longer waits are re-armed. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the narrow view of the platform that this file is for
const platform = globalThis as unknown as PlatformTime;

let { performance, setTimeout } = platform;

/**
 * The platform's monotonic clock and timers (`performance.now`, `setTimeout`). Looking `performance` up goes through an
 * accessor that takes Chromium longer than the reading itself, and every call of a batched function is a reading. So it
 * is looked up again only when `setTimeout` has changed, as it does when a test puts fake timers in.
 */
export const systemClock: Clock = {
  now() {
    if (platform.setTimeout !== setTimeout) ({ performance, setTimeout } = platform);
    return performance.now();
  },
  setTimer(delayMs, fire) {
    let remainingMs = delayMs;
    let timer: unknown;
    const arm = (): void => {
      const armedMs = Math.min(remainingMs, LONGEST_TIMER_MS);
      remainingMs -= armedMs;
      timer = platform.setTimeout(remainingMs > 0 ? arm : fire, armedMs);
    };
    arm();
    return () => platform.clearTimeout(timer);
  },
};
