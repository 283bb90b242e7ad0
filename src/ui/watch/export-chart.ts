import { saveFile } from '../share/save-file.ts';
import type { ServeView } from '../state/serve-store.ts';
import { color } from './chart-spec.ts';
import type { ChartSpec, LineStyle } from './chart-spec.ts';
import { placeHead, SAMPLE_WIDTH } from './picture-head.ts';
import type { PictureHead } from './picture-head.ts';

/** Everything that is kept, also outside the window. */
function toCsv({ columnNames, read }: Pick<ChartSpec, 'columnNames' | 'read'>, view: ServeView): string {
  const columns = read(view);
  const rows = columns[0]?.map((_, row) => columns.map((cells) => cells[row] ?? '').join(',')) ?? [];
  return [columnNames.map((name) => `"${name}"`).join(','), ...rows, ''].join('\n');
}

export function saveCsv(spec: ChartSpec, view: ServeView): void {
  saveFile(`${spec.testId}.csv`, new Blob([toCsv(spec, view)], { type: 'text/csv' }));
}

const MARGIN = 12;
const HEAD_GAP = 8;
const SAMPLE_THICKNESS = 3;

/** The chart as drawn now, with its title and legend. */
export async function savePng(spec: ChartSpec, host: HTMLElement): Promise<void> {
  const chart = host.querySelector('canvas');
  if (!chart) return;
  const scale = devicePixelRatio;
  const [width, height] = [chart.width / scale, chart.height / scale];
  const canvas = new OffscreenCanvas(chart.width + 2 * MARGIN * scale, chart.height);
  const context = canvas.getContext('2d');
  if (!context) return;
  const head = placeHead(spec, width, (text, font) => {
    context.font = font;
    return context.measureText(text).width;
  });
  // Setting the height clears the canvas and its state, so it comes before any drawing.
  canvas.height = Math.ceil((head.height + HEAD_GAP + height + 2 * MARGIN) * scale);
  context.scale(scale, scale);
  context.fillStyle = color('--surface')();
  context.fillRect(0, 0, width + 2 * MARGIN, canvas.height / scale);
  context.translate(MARGIN, MARGIN);
  drawHead(context, head, spec.lineStyles);
  context.drawImage(chart, 0, head.height + HEAD_GAP, width, height);
  saveFile(`${spec.testId}.png`, await canvas.convertToBlob());
}

function drawHead(
  context: OffscreenCanvasRenderingContext2D,
  { texts, samples }: PictureHead,
  lineStyles: readonly LineStyle[],
): void {
  context.fillStyle = color('--ink')();
  context.textBaseline = 'top';
  for (const { text, font, x, y } of texts) {
    context.font = font;
    context.fillText(text, x, y);
  }
  context.lineWidth = SAMPLE_THICKNESS;
  for (const [index, { x, y }] of samples.entries()) {
    const style = lineStyles[index];
    if (!style) continue;
    context.strokeStyle = color(style.color)();
    context.setLineDash(style.dash ?? []);
    context.beginPath();
    context.moveTo(x, y - 2);
    context.lineTo(x + SAMPLE_WIDTH, y - 2);
    context.stroke();
  }
}
