import { formatCount } from '../../parts/format.ts';
import type { Handover } from '../../state/handover.ts';

/** When the tab that ran the model went away, and what became of this tab's texts. */
export function describeHandover({ startedAtMs, requestIds, numRestarted }: Handover, nowMs: number): string {
  const start = `The tab that ran the model was closed or stopped ${describeAgo(nowMs - startedAtMs)} ago.`;
  const numTexts = requestIds.size;
  if (numTexts === 0) return `${start} No text was running in this tab.`;
  const texts = `${formatCount(numTexts)} ${numTexts === 1 ? 'text' : 'texts'}`;
  const loss = numRestarted === 0 ? 'no token was lost' : `${formatCount(numRestarted)} began again`;
  return `${start} ${texts} went on here; ${loss}.`;
}

function describeAgo(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
