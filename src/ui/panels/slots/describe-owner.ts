import type { BarOwner } from '../../state/slot-history.ts';

/** A short name of a request; another tab's is the same in every tab. */
export function describeOwner(owner: Omit<BarOwner, 'prompt'> | undefined): string {
  if (!owner) return 'request';
  return owner.clientId === undefined ? `#${owner.ordinal}` : describeSender(owner);
}

export function describeSender({ clientId, isHttp }: Pick<BarOwner, 'clientId' | 'isHttp'>): string {
  if (clientId === undefined) return 'this tab';
  if (isOfJob(clientId)) return 'job';
  return isHttp ? 'HTTP' : `tab ${clientId.slice(0, 4)}`;
}

/** The worker sends the rows of jobs, as a client of this name. */
export function isOfJob(clientId: string): boolean {
  return clientId === 'jobs';
}
