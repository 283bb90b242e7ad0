import { countOf, formatCount } from '../../parts/format.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { isClosed, nameOfSender } from '../../state/sender.ts';
import type { ServeView } from '../../state/serve-store.ts';

type Tables = Pick<ServeView, 'requests' | 'status'>;

/** The numbers of the open tabs, and of closed ones as long as their texts are listed. */
export function tabsIn({ requests, status: { tabs } }: Tables): readonly number[] {
  const numbers = new Set(tabs.map(({ number }) => number));
  for (const { sender } of requests.values()) if (typeof sender === 'number') numbers.add(sender);
  return [...numbers].toSorted((a, b) => a - b);
}

/** What a tab is called, whether it runs the model, and how its texts stand. */
export function describeTab(
  number: number,
  { requests, status: { state, tabs, isEjected } }: Tables,
): string {
  const tab = tabs.find((open) => open.number === number);
  const own = [...requests.values()].filter(({ sender }) =>
    tab?.isThis ? sender === undefined : sender === number,
  );
  const count = (status: string): number => own.filter((request) => request.status === status).length;
  const parts = [nameOfSender(number, tabs)];
  if (isClosed(number, tabs)) {
    const numStopped = count('cancelled');
    const texts = countOf(numStopped, 'text');
    return numStopped > 0 ? `${parts[0]}: ${texts} ended with it` : `${parts[0]}`;
  }
  if (tab?.isLeader && canGenerate(state)) parts.push(isEjected ? 'model ejected' : 'runs the model');
  const [numRunning, numWaiting] = [count('running'), count('waiting')];
  if (numRunning > 0) parts.push(`${formatCount(numRunning)} running`);
  if (numWaiting > 0) parts.push(`${formatCount(numWaiting)} waiting`);
  return parts.join(' · ');
}
