import type { Cell } from '../../state/chart-history.ts';
import type { ChartColumns, ChartSpec } from './chart-spec.ts';
import { formatSeconds } from './slot-axis.ts';

/** Writes the values at a time, or the newest ones, into the elements that React has rendered, and the time at the crosshair. */
export function createReadout(
  host: HTMLElement,
  crosshair: Element | null,
  { format, valueAt }: Pick<ChartSpec, 'format' | 'valueAt'>,
): (columns: ChartColumns, x: number | undefined, valueOf?: (line: number) => Cell) => void {
  const time = crosshair?.appendChild(document.createElement('span'));
  if (time) time.className = 'crosshair-time';
  const values = [...host.querySelectorAll('.readout-value')];
  return (columns, x, valueOf = (line) => valueAt(columns, line, x)) => {
    if (time && x !== undefined) write(time, formatSeconds(x));
    for (const [line, element] of values.entries()) write(element, format(valueOf(line)));
  };
}

function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
