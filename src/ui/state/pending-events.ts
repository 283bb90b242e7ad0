import { frames } from '../drawing/frame-scheduler.ts';

/** The longest time that an event waits where it can, ms. */
const MAX_WAIT_MS = 1000;

interface PendingEvents<Event> {
  readonly push: (event: Event, canWait?: boolean) => void;
  readonly apply: () => void;
}

/**
 * Applies events together, in order and at most once per frame. Events that can wait are applied with the next one that can't, or
 * after a second, so that an idle tab costs little. A hidden tab gets no frames: there each event is applied at once.
 */
export function createPendingEvents<Event>(
  applyEvents: (events: readonly Event[]) => void,
): PendingEvents<Event> {
  let pending: Event[] = [];
  let isWaiting = false;

  const apply = (): void => {
    const events = pending;
    pending = [];
    if (events.length > 0) applyEvents(events);
  };

  const endWait = (): void => {
    isWaiting = false;
    if (pending.length > 0) frames.request(apply);
  };

  const push = (event: Event, canWait = false): void => {
    pending.push(event);
    if (document.hidden) {
      apply();
    } else if (!canWait) {
      frames.request(apply);
    } else if (!isWaiting) {
      isWaiting = true;
      setTimeout(endWait, MAX_WAIT_MS);
    }
  };

  return { push, apply };
}
