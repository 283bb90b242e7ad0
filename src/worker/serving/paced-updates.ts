import type { Clock } from '../../batching/base/clock.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';

/** Two frames of a display at 60 Hz. A reader does not notice the wait. */
const INTERVAL_MS = 33;

/** The time until a client gets further tokens: `INTERVAL_MS` after its last message. */
interface Pause {
  readonly sinceMs: number;
  readonly held: RequestUpdate[];
  readonly cancelTimer: () => void;
}

/**
 * Sends each client its updates in order, and tokens at most every 33 ms, so that short steps share a message. A message costs about
 * the same with one token as with a hundred. A request's first token and all other updates are sent at once, after the held tokens.
 * Tokens of a step that takes longer than 33 ms are never held.
 */
export class PacedUpdates {
  readonly #clock: Clock;
  readonly #send: (clientId: ClientId, updates: readonly RequestUpdate[]) => void;
  readonly #pauses = new Map<ClientId, Pause>();

  constructor(clock: Clock, send: (clientId: ClientId, updates: readonly RequestUpdate[]) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  post(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    const pause = this.#pauses.get(clientId);
    // The clock is read too, because a browser may throttle timers.
    const canWait = pause && this.#clock.now() - pause.sinceMs < INTERVAL_MS && updates.every(isLaterToken);
    if (canWait) pause.held.push(...updates);
    else this.#sendNow(clientId, [...this.#endPause(clientId), ...updates]);
  }

  /** Sends all held updates. */
  flush(): void {
    for (const clientId of this.#pauses.keys()) {
      const held = this.#endPause(clientId);
      if (held.length > 0) this.#send(clientId, held);
    }
  }

  #sendNow(clientId: ClientId, updates: readonly RequestUpdate[]): void {
    const cancelTimer = this.#clock.setTimer(INTERVAL_MS, () => {
      const held = this.#endPause(clientId);
      if (held.length > 0) this.#sendNow(clientId, held);
    });
    this.#pauses.set(clientId, { sinceMs: this.#clock.now(), held: [], cancelTimer });
    this.#send(clientId, updates);
  }

  /** Removes and returns the held updates. */
  #endPause(clientId: ClientId): readonly RequestUpdate[] {
    const pause = this.#pauses.get(clientId);
    this.#pauses.delete(clientId);
    pause?.cancelTimer();
    return pause?.held ?? [];
  }
}

function isLaterToken(update: RequestUpdate): boolean {
  return update.type === 'chunk' && update.ttftMs === undefined;
}
