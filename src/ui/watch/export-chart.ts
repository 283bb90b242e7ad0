import { saveFile } from '../share/save-file.ts';
import type { ServeView } from '../state/serve-store.ts';
import { color } from './chart-spec.ts';
import type { ChartSpec } from './chart-spec.ts';

/** All that is kept, not only what is in the window. */
function toCsv({ columnNames, read }: Pick<ChartSpec, 'columnNames' | 'read'>, view: ServeView): string {
  const columns = read(view);
  const rows = columns[0]?.map((_, row) => columns.map((cells) => cells[row] ?? '').join(',')) ?? [];
  return [columnNames.map((name) => `"${name}"`).join(','), ...rows, ''].join('\n');
}

export function saveCsv(spec: ChartSpec, view: ServeView): void {
  saveFile(`${spec.testId}.csv`, new Blob([toCsv(spec, view)], { type: 'text/csv' }));
}

const MARGIN = 12;
const TITLE_HEIGHT = 30;

/** As it is drawn now, with its title on the page's ground. */
export async function savePng({ testId, title, subtitle }: ChartSpec, host: HTMLElement): Promise<void> {
  const chart = host.querySelector('canvas');
  if (!chart) return;
  const scale = devicePixelRatio;
  const [margin, titleHeight] = [MARGIN * scale, TITLE_HEIGHT * scale];
  const canvas = new OffscreenCanvas(chart.width + 2 * margin, chart.height + titleHeight + 2 * margin);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = color('--surface')();
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color('--ink')();
  context.font = `600 ${14 * scale}px system-ui, sans-serif`;
  context.textBaseline = 'top';
  context.fillText(`${title}: ${subtitle}`, margin, margin);
  context.drawImage(chart, margin, margin + titleHeight);
  saveFile(`${testId}.png`, await canvas.convertToBlob());
}
