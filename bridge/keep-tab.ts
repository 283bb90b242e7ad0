import { systemClock } from '../src/batching/clock.ts';
import { BridgeError, launchReasonOf } from './errors.ts';

/** A page that is open in a browser. */
export interface HeadlessTab {
  /** Resolves with what has become of it, when it no longer serves. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** Why a tab no longer serves, and for how long it was open; undefined where it never was. */
interface TabEnd {
  readonly reason: unknown;
  readonly openMs: number | undefined;
}

export interface KeepTabOptions {
  /** Ends it, and the tab. */
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}

const FIRST_PAUSE_MS = 1000;
/** In a row; with pauses that double it is half a minute until this gives up. */
const MAX_FAILURES = 5;
/** A tab that was open for so long is no failure when it ends. */
const LASTING_MS = 60_000;

/**
 * Keeps a tab open: requests of one that crashes, or whose browser does, go to the one that comes after it.
 *
 * @throws BridgeError where the first tab does not open, or later ones fail again and again.
 */
export async function keepTab(
  open: () => Promise<HeadlessTab>,
  { signal, tell }: KeepTabOptions,
): Promise<void> {
  let hasOpened = false;
  for (let numFailures = 0; ;) {
    const { reason, openMs } = await runTab(open, signal);
    if (signal.aborted) return;
    hasOpened ||= openMs !== undefined;
    numFailures = (openMs ?? 0) >= LASTING_MS ? 1 : numFailures + 1;
    // A browser that has never opened the page is not going to by itself.
    if (!hasOpened || numFailures > MAX_FAILURES) throw BridgeError.noHeadlessTab(reason);
    tell(`The headless browser failed and is started again: ${launchReasonOf(reason)}`);
    await pause(FIRST_PAUSE_MS * 2 ** (numFailures - 1), signal);
    if (signal.aborted) return;
  }
}

/** Resolves when it has ended, or could not be opened, or the signal aborts; the tab is closed then. */
async function runTab(open: () => Promise<HeadlessTab>, signal: AbortSignal): Promise<TabEnd> {
  let openedAtMs: number | undefined;
  const openMs = (): number | undefined =>
    openedAtMs === undefined ? undefined : systemClock.now() - openedAtMs;
  try {
    const tab = await open();
    openedAtMs = systemClock.now();
    const reason = await Promise.race([tab.ended, aborted(signal)]);
    await tab.close();
    return { reason, openMs: openMs() };
  } catch (reason) {
    return { reason, openMs: openMs() };
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancelTimer = systemClock.setTimer(ms, resolve);
  await Promise.race([promise, aborted(signal)]);
  cancelTimer();
}

function aborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('');
    else signal.addEventListener('abort', () => resolve(''), { once: true });
  });
}
