import { formatCount, formatMs } from '../../parts/format.ts';
import type { SlotBar } from '../../state/slot-history.ts';
import { describeOwner, describeSender } from './describe-owner.ts';
import { tabColor } from './tab-colors.ts';

export interface Sender {
  readonly name: string;
  readonly color: `--${string}`;
}

/** The senders of these bars, this tab first. */
export function sendersOf(bars: Iterable<Pick<SlotBar, 'owner'>>): readonly Sender[] {
  const senders = new Map<string, Sender>();
  for (const { owner } of bars) {
    if (!owner) continue;
    const key = owner.isHttp ? 'HTTP' : (owner.clientId ?? '');
    if (!senders.has(key))
      senders.set(key, { name: describeSender(owner), color: tabColor(owner.clientId, owner.isHttp) });
  }
  const own = senders.get('');
  senders.delete('');
  return own ? [own, ...senders.values()] : [...senders.values()];
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
export function describeBar(bar: SlotBar): string {
  const { slot, spanIndex, queueWaitMs, startedAtMs, firstTokenAtMs, endedAtMs, end, numTokens } = bar;
  const parts = [`${describeOwner(bar.owner)} in slot ${slot}`];
  if (spanIndex > 0) {
    parts.push('moved here');
  } else {
    parts.push(`waited ${formatMs(queueWaitMs)}`);
    if (firstTokenAtMs !== undefined) parts.push(`prefill ${formatMs(firstTokenAtMs - startedAtMs)}`);
  }
  if (endedAtMs !== undefined) parts.push(`decode ${formatMs(endedAtMs - (firstTokenAtMs ?? endedAtMs))}`);
  parts.push(numTokens === 1 ? '1 token' : `${formatCount(numTokens)} tokens`, end ? ENDS[end] : 'running');
  return parts.join(' · ');
}
