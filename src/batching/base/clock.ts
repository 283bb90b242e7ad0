/** Injected time: the core reads no platform clock itself. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `fire` once, no earlier than `delayMs` from now. Returns a function that cancels it. */
  setTimer(delayMs: number, fire: () => void): () => void;
}

// The core compiles without DOM and Node types. These are the only platform names that it uses.
interface PlatformTime {
  readonly performance: { now(): number };
  readonly setTimeout: (fire: () => void, delayMs: number) => unknown;
  clearTimeout(timer: unknown): void;
}

/** Longer timers fire at once on every platform, so longer waits are split. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see `PlatformTime`
const platform = globalThis as unknown as PlatformTime;

let { performance, setTimeout } = platform;

/**
 * The platform's monotonic clock and timers (`performance.now`, `setTimeout`). `performance` is an accessor that takes Chromium
 * longer than the reading, and every call of a batched function reads the clock. So it is looked up again only if
 * `setTimeout` has changed, as it does when a test installs fake timers.
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

/**
 * Calls `fire` once all that has come by now is taken in: it may wait behind a timer that was late. A browser takes a broadcast
 * message in with one task, and with a second task that waits behind all others.
 */
export function afterArrived(clock: Clock, fire: () => void): () => void {
  let cancel = clock.setTimer(0, () => (cancel = clock.setTimer(0, fire)));
  return () => cancel();
}

/** As `clock.setTimer`, for a timer that ends the wait for messages: what has come in time is taken in first. */
export function setDeadline(clock: Clock, delayMs: number, fire: () => void): () => void {
  let cancel = clock.setTimer(delayMs, () => (cancel = afterArrived(clock, fire)));
  return () => cancel();
}
