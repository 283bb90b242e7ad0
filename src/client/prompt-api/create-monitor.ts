import { EventHandler } from './event-handler.ts';
import type { CreateMonitor } from './types.ts';

/** `loaded` is reported in steps of this size, so that it does not reveal a model's exact size. */
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

/** Reports the progress of a download to a monitor. */
export interface DownloadReport {
  /** @param loaded From 0 to 1. A value that does not exceed the last one is left out. */
  tell(loaded: number): void;
}

const SILENT: DownloadReport = { tell: () => {} };

/**
 * Hands the callback its monitor, and throws what the callback throws.
 *
 * @param signal No event is fired after it has aborted.
 */
export function startMonitor(
  callback: ((monitor: CreateMonitor) => unknown) | undefined,
  signal: AbortSignal | undefined,
): DownloadReport {
  if (!callback) return SILENT;
  const monitor = new Monitor();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its only events are ProgressEvents
  callback(monitor as EventTarget as CreateMonitor);
  let last = -1;
  return {
    tell(fraction) {
      const loaded = Math.floor(fraction * NUM_PARTS) / NUM_PARTS;
      if (signal?.aborted || loaded <= last) return;
      last = loaded;
      const progress = { loaded, total: 1, lengthComputable: true };
      monitor.dispatchEvent(new ProgressEvent('downloadprogress', progress));
    },
  };
}
