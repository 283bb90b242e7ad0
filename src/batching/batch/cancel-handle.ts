import { onAbort, type AbortSignal } from '../base/abort-signal.ts';
import { RequestCancelledError } from '../base/errors.ts';

/** Holds a call: the batcher while the call waits, then its batch. */
export interface CallHolder {
  /** `isSilent`: the caller has left and wants no answer. */
  cancel(place: number, error: RequestCancelledError, isSilent: boolean): void;
}

/** Cancels one call, in the queue or in a batch. Only calls that can be cancelled have a handle. */
export class CancelHandle {
  #holder: CallHolder | undefined;
  /** The call's id within its holder. */
  #place = 0;
  #stopListening: (() => void) | undefined;

  pass(holder: CallHolder, place: number): void {
    this.#holder = holder;
    this.#place = place;
  }

  cancelOnAbort(signal: AbortSignal): void {
    this.#stopListening = onAbort(signal, () => {
      this.cancel(RequestCancelledError.because(signal.reason), false);
    });
  }

  /** Does nothing after `close`. */
  cancel(error: RequestCancelledError, isSilent: boolean): void {
    this.#holder?.cancel(this.#place, error, isSilent);
  }

  /** Called when the call is settled. Its signal or stream may live longer, and must not keep the batch in memory. */
  close(): void {
    this.#holder = undefined;
    this.#stopListening?.();
  }
}
