import { formatCount, formatMs } from '../format.ts';
import type { SlotBar } from '../state/slot-history.ts';

/** Short, and the same in every tab that shows it. */
export function describeOwner({ owner }: Pick<SlotBar, 'owner'>): string {
  if (!owner) return 'request';
  return owner.clientId === undefined ? `#${owner.ordinal}` : `tab ${owner.clientId.slice(0, 4)}`;
}

/** One line for a bar: whose it is, and where its time went. */
export function describeBar(bar: SlotBar): string {
  const { slot, stayIndex, queueWaitMs, startedAtMs, firstTokenAtMs, endedAtMs, end, numTokens } = bar;
  const parts = [`${describeOwner(bar)} in slot ${slot}`];
  if (stayIndex > 0) parts.push('moved in');
  else parts.push(`waited ${formatMs(queueWaitMs)}`);
  if (stayIndex === 0 && firstTokenAtMs !== undefined)
    parts.push(`prefill ${formatMs(firstTokenAtMs - startedAtMs)}`);
  if (endedAtMs !== undefined) {
    parts.push(`decode ${formatMs(endedAtMs - (firstTokenAtMs ?? endedAtMs))}`);
  }
  parts.push(`${formatCount(numTokens)} tokens`, end === undefined ? 'running' : `ended: ${end}`);
  return parts.join(' · ');
}
