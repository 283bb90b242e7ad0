import { resolvedColor } from '../theme/resolved-color.ts';
import type { Hit } from './embed-room.ts';

/** Room for whole dots at the edges, in CSS pixels. */
export const MAP_MARGIN = 10;

const RADIUS = 3;
/** Beyond so many, dots are smaller. */
const MANY = 1000;

interface PointsScene {
  readonly places: Float32Array;
  readonly hits: readonly Hit[];
  readonly active: number | undefined;
}

/** A dot for each line; the hits above them, and a ring around the active one. */
export function drawPoints(canvas: HTMLCanvasElement, { places, hits, active }: PointsScene): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  // Setting the size clears the canvas.
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  context.scale(devicePixelRatio, devicePixelRatio);
  const dot = (index: number, radius: number): void => {
    context.beginPath();
    const x = MAP_MARGIN + (places[2 * index] ?? 0) * (width - 2 * MAP_MARGIN);
    const y = MAP_MARGIN + (places[2 * index + 1] ?? 0) * (height - 2 * MAP_MARGIN);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  };
  const count = places.length / 2;
  const radius = count > MANY ? RADIUS / 2 : RADIUS;
  context.fillStyle = resolvedColor('--series-decode');
  // So that the hits stand out.
  context.globalAlpha = hits.length > 0 ? 0.35 : 0.8;
  for (let index = 0; index < count; index += 1) {
    dot(index, radius);
    context.fill();
  }
  context.globalAlpha = 1;
  context.fillStyle = resolvedColor('--series-ttft');
  context.strokeStyle = resolvedColor('--paper');
  for (const [rank, { index }] of [...hits.entries()].toReversed()) {
    const nearness = 1 - rank / hits.length;
    context.globalAlpha = 0.2 + 0.8 * nearness;
    dot(index, RADIUS + 3 * nearness);
    context.fill();
    context.stroke();
  }
  context.globalAlpha = 1;
  if (active === undefined) return;
  context.strokeStyle = resolvedColor('--ink');
  context.lineWidth = 2;
  dot(active, RADIUS + 4);
  context.stroke();
}
