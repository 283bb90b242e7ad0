import { onAbort, type AbortSignal } from './abort-signal.ts';
import { RequestCancelledError } from './errors.ts';

/** Who has a call at the moment: the batcher while it waits, then the batch that it is a member of. */
export interface CallHolder {
  /** `isSilent`: the caller has left and wants no answer. */
  cancel(place: number, error: RequestCancelledError, isSilent: boolean): void;
}

/** The way out of a call that can be cancelled; the others have none, and cost nothing for it. */
export class CancelHandle {
  #holder: CallHolder | undefined;
  /** What the holder knows the call by. */
  #place = 0;
  #stopListening: (() => void) | undefined;

  /** The call goes over to `holder`. */
  pass(holder: CallHolder, place: number): void {
    this.#holder = holder;
    this.#place = place;
  }

  cancelOnAbort(signal: AbortSignal): void {
    this.#stopListening = onAbort(signal, () => {
      this.cancel(RequestCancelledError.because(signal.reason), false);
    });
  }

  /** Does nothing to a call that is settled. */
  cancel(error: RequestCancelledError, isSilent: boolean): void {
    this.#holder?.cancel(this.#place, error, isSilent);
  }

  /** The call is settled. A caller may keep its signal or stream for long, and must not keep the batch with it. */
  close(): void {
    this.#holder = undefined;
    this.#stopListening?.();
  }
}
