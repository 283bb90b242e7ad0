import type { TimeSpan } from './time-span.ts';
import { watchSettings } from './watch-settings.ts';

/** The moment whose values all charts and the slots show, in ms on this tab's clock; undefined for the newest. */
export function chosenMs({ untilMs }: Pick<TimeSpan, 'untilMs'>): number | undefined {
  const { cursorSeconds, secondsAgo } = watchSettings.getState();
  if (cursorSeconds !== undefined) return cursorSeconds * 1000;
  return secondsAgo === 0 ? undefined : untilMs - secondsAgo * 1000;
}
