import { resolvedColor } from './resolved-color.ts';

interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const DISTANCE = 7;

/** Slanted lines, in units of the canvas. @param scale Units for each CSS pixel. */
export function drawHatch(
  context: CanvasRenderingContext2D,
  { left, top, width, height }: Place,
  scale = 1,
): void {
  if (width <= 0) return;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.beginPath();
  for (let x = left - height; x < left + width; x += DISTANCE * scale) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.strokeStyle = resolvedColor('--rule-control');
  context.lineWidth = scale;
  context.globalAlpha = 0.6;
  context.stroke();
  context.restore();
}
