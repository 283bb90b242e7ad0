import type { BatchContext } from '../../../batching/batch/batch.ts';
import { onAbort } from '../../../batching/base/abort-signal.ts';
import type { Clock } from '../../../batching/base/clock.ts';
import { HandlerHungError } from '../../../protocol/errors/deployments.ts';
import { handlerHung } from '../../../protocol/errors/deployment-messages.ts';

/** A batch that takes longer is worth a line on the console. */
const LONG_MS = 60_000;

/** How long a handler may go on after all callers of its batch have left. */
const GRACE_MS = 30_000;

/** Finds handlers that don't end. */
export class HangWatch {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #onHung: () => void;
  #numHung = 0;
  #hasWarned = false;

  /** @param onHung Called when a handler counts as hung. */
  constructor(name: string, clock: Clock, onHung: () => void) {
    this.#name = name;
    this.#clock = clock;
    this.#onHung = onHung;
  }

  /** Undefined while a batch can run. */
  refusal(maxConcurrentBatches: number): HandlerHungError | undefined {
    return this.#numHung < maxConcurrentBatches ? undefined : handlerHung(this.#name, GRACE_MS);
  }

  async watch<Result>({ signal }: BatchContext, run: () => Promise<Result>): Promise<Result> {
    let isHung = false;
    const cancelWarning = this.#clock.setTimer(LONG_MS, () => this.#warn());
    let cancelGrace: (() => void) | undefined;
    const unfollow = onAbort(signal, () => {
      cancelGrace = this.#clock.setTimer(GRACE_MS, () => {
        isHung = true;
        this.#numHung += 1;
        this.#onHung();
      });
    });
    try {
      return await run();
    } finally {
      cancelWarning();
      cancelGrace?.();
      unfollow();
      if (isHung) this.#numHung -= 1;
    }
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    console.warn(
      `A batch of \`${this.#name}\` has run for ${LONG_MS / 1000} s, and the requests behind it wait: give what its handler awaits a time limit, or raise maxConcurrentBatches.`,
    );
  }
}
