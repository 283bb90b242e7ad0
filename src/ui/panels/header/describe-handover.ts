import type { OpenTab } from '../../../client/index.ts';
import { countOf, formatCount } from '../../parts/format.ts';
import type { Handover } from '../../state/handover.ts';
import { isActive } from '../../state/request-view.ts';
import { isClosed } from '../../state/sender.ts';

/** When the tab that ran the model went away, and what became of this tab's texts. */
export function describeHandover(
  { startedAtMs, requestIds, tabs: tabsBefore, requests, numRestarted }: Handover,
  tabs: readonly OpenTab[],
  nowMs: number,
): string {
  const leader = tabsBefore.find(({ isLeader, isThis }) => isLeader && !isThis)?.number;
  const who = leader === undefined ? 'The tab that ran the model' : `Tab ${leader}, which ran the model,`;
  const start = `${who} was closed or stopped ${describeAgo(nowMs - startedAtMs)} ago.`;
  const ended = [...requests.values()].filter(({ sender, status }) => sender === leader && isActive(status));
  const hasEnded = leader !== undefined && isClosed(leader, tabs) && ended.length > 0;
  const left = hasEnded ? ` ${countOf(ended.length, 'text')} ended with it.` : '';
  const numTexts = requestIds.size;
  if (numTexts === 0) return `${start} No text was running in this tab.${left}`;
  const loss = numRestarted === 0 ? 'no token was lost' : `${formatCount(numRestarted)} began again`;
  return `${start} ${countOf(numTexts, 'text')} went on here; ${loss}.${left}`;
}

function describeAgo(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
