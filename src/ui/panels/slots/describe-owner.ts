import type { OpenTab } from '../../../client/index.ts';
import { nameOfSender } from '../../state/sender.ts';
import type { BarOwner } from '../../state/slot-history.ts';

/** A short name of a request: its number in this tab, else who sent it. */
export function describeOwner(owner: Omit<BarOwner, 'prompt'> | undefined, tabs: readonly OpenTab[]): string {
  if (!owner) return 'request';
  return owner.sender === undefined ? `#${owner.ordinal}` : nameOfSender(owner.sender, tabs);
}
