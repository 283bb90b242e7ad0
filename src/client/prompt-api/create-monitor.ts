import { EventHandler } from './event-handler.ts';
import type { CreateMonitor } from './types.ts';

/** Steps of `loaded`: a finer value would reveal a model's exact size. */
const NUM_PARTS = 0x1_00_00;

class Monitor extends EventTarget {
  readonly #progress = new EventHandler(this, 'downloadprogress');

  get ondownloadprogress(): EventHandler['handler'] {
    return this.#progress.handler;
  }

  set ondownloadprogress(handler: EventHandler['handler']) {
    this.#progress.handler = handler;
  }
}

/** Reports the progress of a download to a monitor, from 0 to 1. A value that is no further than the last is left out. */
export type ReportProgress = (fraction: number) => void;

/**
 * Hands the callback its monitor, and throws what the callback throws.
 *
 * @param signal No event is fired after it has aborted.
 */
export function startMonitor(
  callback: ((monitor: CreateMonitor) => unknown) | undefined,
  signal: AbortSignal | undefined,
): ReportProgress {
  if (!callback) return () => {};
  const monitor = new Monitor();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its only events are ProgressEvents
  callback(monitor as EventTarget as CreateMonitor);
  let last = -1;
  return (fraction) => {
    const loaded = Math.floor(fraction * NUM_PARTS) / NUM_PARTS;
    if (signal?.aborted || loaded <= last) return;
    last = loaded;
    const event = { loaded, total: 1, lengthComputable: true };
    monitor.dispatchEvent(new ProgressEvent('downloadprogress', event));
  };
}
