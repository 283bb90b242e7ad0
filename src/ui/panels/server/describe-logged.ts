import type { LoggedRequest, OpenTab } from '../../../client/index.ts';
import { formatCount, NO_VALUE } from '../../parts/format.ts';
import { nameOfSender, senderOf } from '../../state/sender.ts';

/** Characters of a digest that tell keys and users apart. */
const DIGEST_LENGTH = 4;

/** “Tab 2, this one”, “HTTP, this machine, key 3fa2”, “Jobs”. */
export function describeCaller({ tab, caller }: LoggedRequest, tabs: readonly OpenTab[]): string {
  const name = nameOfSender(
    senderOf({ ...(tab !== undefined && { tab }), ...(caller && { isHttp: true }) }),
    tabs,
  );
  if (!caller) return name;
  const [address, key = '', user = ''] = caller;
  const parts = [name, address === 'loopback' ? 'this machine' : address];
  if (key) parts.push(`key ${key.slice(0, DIGEST_LENGTH)}`);
  if (user) parts.push(`user ${user.slice(0, DIGEST_LENGTH)}`);
  return parts.join(', ');
}

/** “120”, “120, 96 reused”. */
export function describePrompt({ numPromptTokens, numCachedTokens = 0 }: LoggedRequest): string {
  if (numPromptTokens === undefined) return NO_VALUE;
  const count = formatCount(numPromptTokens);
  return numCachedTokens > 0 ? `${count}, ${formatCount(numCachedTokens)} reused` : count;
}

/** A request that somebody stopped is no failure. */
export function hasFailed({ error }: LoggedRequest): boolean {
  return error !== undefined && error.code !== 'REQUEST_CANCELLED';
}

export function describeOutcome({ error, finishReason }: LoggedRequest): string {
  if (error) return error.code === 'REQUEST_CANCELLED' ? 'Stopped' : `Failed: ${error.code}`;
  return finishReason === 'length' ? 'Done, at its limit' : 'Done';
}
