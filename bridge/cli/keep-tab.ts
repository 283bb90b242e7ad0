import { systemClock } from '../../src/batching/base/clock.ts';
import { untilAborted } from '../../src/platform/until-aborted.ts';
import { BridgeError, launchReasonOf } from '../base/errors.ts';

/** A page that is open in a browser. */
export interface HeadlessTab {
  /** Resolves with the reason when the tab no longer serves. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

export interface KeepTabOptions {
  /** Closes the tab and stops. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

const FIRST_PAUSE_MS = 1000;
/** In a row. The pauses between them add up to half a minute. */
const MAX_FAILURES = 5;
/** A tab that was open this long resets the count of failures. */
const LASTING_MS = 60_000;

/**
 * Keeps a tab open. After a crash it opens a new one, which continues the requests.
 *
 * @throws BridgeError if the first tab does not open, or too many tabs fail in a row.
 */
export async function keepTab(
  open: () => Promise<HeadlessTab>,
  { signal, print }: KeepTabOptions,
): Promise<void> {
  let hasOpened = false;
  let numFailures = 0;
  while (!signal.aborted) {
    let openedAtMs = Infinity;
    let reason: unknown;
    try {
      const tab = await open();
      openedAtMs = systemClock.now();
      hasOpened = true;
      reason = await untilAborted(tab.ended, signal).catch(() => '');
      await tab.close();
    } catch (error) {
      reason = error;
    }
    if (signal.aborted) return;
    // The profile of a browser that has crashed is in use for a moment.
    if (reason instanceof BridgeError && !hasOpened) throw reason;
    numFailures = systemClock.now() - openedAtMs >= LASTING_MS ? 1 : numFailures + 1;
    const why = launchReasonOf(reason);
    // A browser that has never opened the page will not succeed later.
    if (!hasOpened || numFailures > MAX_FAILURES) {
      const message = `The headless browser does not stay open (${why}): set CHROME_PATH to a Chrome or Chromium that does, or start the server without --headless, and open its page in your own browser.`;
      throw new BridgeError('NO_HEADLESS_TAB', message, reason);
    }
    print(`The headless browser failed and is started again: ${why}`);
    await pause(FIRST_PAUSE_MS * 2 ** (numFailures - 1), signal);
  }
}

/** Ends early when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancelTimer = systemClock.setTimer(ms, resolve);
  await untilAborted(promise, signal).catch(() => undefined);
  cancelTimer();
}
