import { drawTrial, scaleOf } from '../trials/draw-trial.ts';
import { formatSeconds } from '../../parts/format.ts';
import type { PolicyTrial } from '../trials/policy-multiples.tsx';
import { saveFile } from '../../browser/save-file.ts';
import { resolvedColor } from '../../drawing/resolved-color.ts';
import { multipleOfRun, multiplesOf } from './compare-measures.ts';
import { describeOutcome } from './describe-outcome.ts';
import type { LoadResults } from './load-session.ts';

const MARGIN = 16;
const GAP = 20;
const LINE = 18;
const COLUMN_WIDTH = 300;
const TIMELINE_HEIGHT = 120;
const BAR_HEIGHT = 3;
const FONT = 'system-ui, sans-serif';
const CURVE = '[data-testid="latency-curve"] canvas';

/** The results as shown, with their labels, in the colors of the theme. */
export async function saveLoadPicture(results: LoadResults): Promise<void> {
  const { mode, trials, deployment } = results;
  const hasTimelines = mode === 'run' || mode === 'compare';
  const picture = hasTimelines
    ? drawTimelines(
        mode === 'compare' ? multiplesOf(trials) : trials.map((trial) => multipleOfRun(trial, deployment)),
        describeOutcome(results).title,
        trials.some(({ slots }) => slots),
      )
    : drawCurve(document.querySelector<HTMLCanvasElement>(CURVE));
  if (picture) saveFile('tabserve-load.png', await picture.convertToBlob());
}

/** @param hasSlots Without slots, the figures alone are drawn. */
function drawTimelines(
  trials: readonly PolicyTrial[],
  title: string,
  hasSlots: boolean,
): OffscreenCanvas | undefined {
  const numFigures = Math.max(...trials.map(({ figures }) => figures.length));
  const figureHeight = LINE + BAR_HEIGHT + 3;
  const columnWidth = trials.length === 1 ? 2 * COLUMN_WIDTH : COLUMN_WIDTH;
  const page = createPage(
    trials.length * (columnWidth + GAP) - GAP,
    2.5 * LINE + (hasSlots ? TIMELINE_HEIGHT + LINE : 0) + numFigures * figureHeight,
    title,
  );
  if (!page) return undefined;
  const { canvas, context } = page;
  const { spanMs, numLanes } = scaleOf(trials);
  for (const trial of trials) {
    context.save();
    write(context, trial.label, 0, LINE / 2, '--ink', 600);
    context.translate(0, LINE);
    if (hasSlots) {
      drawTrial(context, { ...trial, spanMs, numLanes, width: columnWidth, height: TIMELINE_HEIGHT });
      context.translate(0, TIMELINE_HEIGHT);
      write(context, '0', 0, LINE / 2, '--ink-2');
      write(context, formatSeconds(spanMs), columnWidth, LINE / 2, '--ink-2', 400, 'right');
      context.translate(0, LINE);
    }
    for (const { name, value, ratio = '', share, color = '--ink-2' } of trial.figures) {
      write(context, name, 0, LINE / 2, '--ink-2');
      write(context, value, columnWidth - (ratio ? 56 : 0), LINE / 2, '--ink', 600, 'right');
      write(context, ratio, columnWidth, LINE / 2, '--ink-2', 400, 'right');
      context.fillStyle = resolvedColor(color);
      context.fillRect(0, LINE, columnWidth * (share ?? 0), BAR_HEIGHT);
      context.translate(0, figureHeight);
    }
    context.restore();
    context.translate(columnWidth + GAP, 0);
  }
  return canvas;
}

/** The lines as uPlot drew them; their names are HTML on the page. */
function drawCurve(chart: HTMLCanvasElement | null): OffscreenCanvas | undefined {
  if (!chart) return undefined;
  const [width, height] = [chart.width / devicePixelRatio, chart.height / devicePixelRatio];
  const page = createPage(width, 2.5 * LINE + height, 'Latency over throughput');
  if (!page) return undefined;
  const { canvas, context } = page;
  write(context, 'End to end: p95 solid, p50 dashed. Red: the latency limit.', 0, LINE / 2, '--ink-2');
  context.drawImage(chart, 0, LINE, width, height);
  return canvas;
}

/** An empty picture below its title. */
function createPage(width: number, height: number, title: string) {
  const scale = devicePixelRatio;
  const canvas = new OffscreenCanvas(
    Math.ceil((width + 2 * MARGIN) * scale),
    Math.ceil((height + 2 * MARGIN) * scale),
  );
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  context.scale(scale, scale);
  context.fillStyle = resolvedColor('--paper');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.translate(MARGIN, MARGIN);
  write(context, title, 0, LINE / 2, '--ink', 650);
  context.translate(0, 1.5 * LINE);
  return { canvas, context };
}

function write(
  context: OffscreenCanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  color: `--${string}`,
  weight = 400,
  align: CanvasTextAlign = 'left',
): void {
  context.fillStyle = resolvedColor(color);
  context.font = `${weight} 13px ${FONT}`;
  context.textBaseline = 'middle';
  context.textAlign = align;
  context.fillText(text, x, y);
}
