import type { OpenTab, RequestActivity } from '../../client/index.ts';

/** Who sent a request that isn't this tab's: the number of a tab, an HTTP client, or the rows of jobs. */
export type Sender = number | 'HTTP' | 'Jobs';

export function senderOf({ tab, isHttp }: Pick<RequestActivity, 'tab' | 'isHttp'>): Sender {
  return tab ?? (isHttp ? 'HTTP' : 'Jobs');
}

/** The name of a tab, wherever the page needs one, and of other senders. A tab knows itself by "this one". */
export function nameOfSender(sender: Sender | undefined, tabs: readonly OpenTab[]): string {
  if (typeof sender === 'string') return sender;
  const own = numberOfThis(tabs);
  if (sender === undefined || tabs.some(({ number, isThis }) => isThis && number === sender))
    return own === undefined ? 'This tab' : `Tab ${own}, this one`;
  return isClosed(sender, tabs) ? `Tab ${sender}, closed` : `Tab ${sender}`;
}

/** Undefined for the first tab while it is alone, which needs none. A later one keeps its number when the others have gone. */
export function numberOfThis(tabs: readonly OpenTab[]): number | undefined {
  const number = tabs.find(({ isThis }) => isThis)?.number;
  return number === 1 && tabs.length === 1 ? undefined : number;
}

export function isClosed(sender: Sender, tabs: readonly OpenTab[]): boolean {
  return typeof sender === 'number' && tabs.every(({ number }) => number !== sender);
}
