import { saveFile } from '../../browser/save-file.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import { encoderSpanOf } from './encoder-run.ts';
import { wholeSpanOf } from './time-span.ts';
import type { ChartHead } from './chart-head.ts';
import { color } from './chart-spec.ts';
import { specOf } from './charts.ts';

/** Saves every kept row of the run. */
export function saveCsv(head: ChartHead, view: RecordedView): void {
  const { columnNames, read } = specOf(head);
  const { deployment } = head;
  const span = deployment === undefined ? wholeSpanOf(view) : encoderSpanOf(view, deployment);
  const columns = read(view, { ...span, startMs: span.originMs });
  const rows = columns[0].map((_, row) => columns.map((cells) => cells[row] ?? '').join(','));
  const csv = [columnNames.map((name) => `"${name}"`).join(','), ...rows, ''].join('\n');
  saveFile(`${head.testId}.csv`, new Blob([csv], { type: 'text/csv' }));
}

const MARGIN = 12;
const ROW_HEIGHT = 19;
const SAMPLE_WIDTH = 22;
const FONT = 'system-ui, sans-serif';

/** The chart as drawn now, below its title and a row for each line. A text wider than the chart is drawn narrower. */
export async function savePng(head: ChartHead, host: HTMLElement): Promise<void> {
  const { testId, title, subtitle, lines } = head;
  const { columnNames } = specOf(head);
  const chart = host.querySelector('canvas');
  if (!chart) return;
  const scale = devicePixelRatio;
  const [width, height] = [chart.width / scale, chart.height / scale];
  const headHeight = (2 + lines.length) * ROW_HEIGHT;
  const canvas = new OffscreenCanvas(
    (width + 2 * MARGIN) * scale,
    Math.ceil((headHeight + height + 2 * MARGIN) * scale),
  );
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(scale, scale);
  context.fillStyle = color('--paper')();
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.translate(MARGIN, MARGIN);
  context.drawImage(chart, 0, headHeight, width, height);
  context.fillStyle = color('--ink')();
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.font = `600 14px ${FONT}`;
  context.fillText(title, 0, ROW_HEIGHT / 2, width);
  context.font = `12px ${FONT}`;
  context.fillText(subtitle, 0, ROW_HEIGHT * 1.5, width);
  for (const [index, { color: name, dash = [] }] of lines.entries()) {
    const y = ROW_HEIGHT * (index + 2.5);
    context.strokeStyle = color(name)();
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(SAMPLE_WIDTH, y);
    context.stroke();
    context.fillText(columnNames[index + 1] ?? '', SAMPLE_WIDTH + 6, y, width - SAMPLE_WIDTH - 6);
  }
  saveFile(`${testId}.png`, await canvas.convertToBlob());
}
