import type { OpenTab } from '../../../client/index.ts';
import { countOf, formatMs } from '../../parts/format.ts';
import type { Sender } from '../../state/sender.ts';
import type { SlotBar } from '../../state/slot-history.ts';
import { describeOwner } from './describe-owner.ts';

/** The senders of these bars, this tab first. */
export function sendersOf(bars: Iterable<Pick<SlotBar, 'owner'>>): readonly (Sender | undefined)[] {
  const senders = new Set<Sender | undefined>();
  for (const { owner } of bars) if (owner) senders.add(owner.sender);
  const isOwnThere = senders.delete(undefined);
  return [...(isOwnThere ? [undefined] : []), ...senders];
}

const ENDS = {
  stop: 'ended by itself',
  length: 'reached its limit',
  abort: 'cancelled',
  error: 'failed',
  lost: 'cut off with its worker',
  moved: 'moved to another slot',
} as const satisfies Readonly<Record<NonNullable<SlotBar['end']>, string>>;

/** One line for a bar: its request, and how long each part took. */
export function describeBar(bar: SlotBar, tabs: readonly OpenTab[]): string {
  const { slot, spanIndex, queueWaitMs, startedAtMs, firstTokenAtMs, endedAtMs, end, numTokens } = bar;
  const parts = [`${describeOwner(bar.owner, tabs)} in slot ${slot}`];
  if (spanIndex > 0) {
    parts.push('moved here');
  } else {
    parts.push(`waited ${formatMs(queueWaitMs)}`);
    if (firstTokenAtMs !== undefined) parts.push(`prefill ${formatMs(firstTokenAtMs - startedAtMs)}`);
  }
  if (endedAtMs !== undefined) parts.push(`decode ${formatMs(endedAtMs - (firstTokenAtMs ?? endedAtMs))}`);
  parts.push(countOf(numTokens, 'token'), end ? ENDS[end] : 'running');
  return parts.join(' · ');
}
