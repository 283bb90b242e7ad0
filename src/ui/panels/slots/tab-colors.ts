import type { Sender } from '../../state/sender.ts';

const OTHERS = ['--tab-1', '--tab-2', '--tab-3', '--tab-4', '--tab-5'] as const;

const known = new Map<Sender, `--${string}`>();

/** One color for this tab and one for all HTTP clients. Others share the colors around, and each keeps its own while the page is open. */
export function tabColor(sender: Sender | undefined): `--${string}` {
  if (sender === undefined) return '--accent';
  if (sender === 'HTTP') return '--tab-http';
  const color = known.get(sender) ?? OTHERS[known.size % OTHERS.length] ?? '--tab-1';
  known.set(sender, color);
  return color;
}
