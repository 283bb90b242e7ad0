import { formatCount, formatMs } from '../format.ts';
import type { BarOwner, SlotBar } from '../state/slot-history.ts';

/** A short name of a request; another tab's is the same in every tab. */
export function describeOwner(owner: Omit<BarOwner, 'prompt'> | undefined): string {
  if (!owner) return 'request';
  return owner.clientId === undefined ? `#${owner.ordinal}` : `tab ${owner.clientId.slice(0, 4)}`;
}

/** One line for a bar: its request, and how long each part took. */
export function describeBar(bar: SlotBar): string {
  const { slot, stayIndex, queueWaitMs, startedAtMs, firstTokenAtMs, endedAtMs, end, numTokens } = bar;
  const parts = [`${describeOwner(bar.owner)} in slot ${slot}`];
  if (stayIndex > 0) {
    parts.push('moved in');
  } else {
    parts.push(`waited ${formatMs(queueWaitMs)}`);
    if (firstTokenAtMs !== undefined) parts.push(`prefill ${formatMs(firstTokenAtMs - startedAtMs)}`);
  }
  if (endedAtMs !== undefined) parts.push(`decode ${formatMs(endedAtMs - (firstTokenAtMs ?? endedAtMs))}`);
  parts.push(`${formatCount(numTokens)} tokens`, end === undefined ? 'running' : `ended: ${end}`);
  return parts.join(' · ');
}
