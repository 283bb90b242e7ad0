export type Direction = 'left' | 'right' | 'up' | 'down';

/** The keys that go from point to point. */
export const DIRECTION_OF_KEY: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** The width and height of a map. Places are x and y of each point, from 0 to 1, y downwards. */
interface Size {
  readonly width: number;
  readonly height: number;
}

/** The point nearest to this place in pixels, unless it is farther away than `maxDistance`. */
export function pointAt(
  places: Float32Array,
  { width, height }: Size,
  { x, y }: { readonly x: number; readonly y: number },
  maxDistance: number,
): number | undefined {
  return nearest(places, (dx, dy) => {
    const distance = Math.hypot(dx * width - x, dy * height - y);
    return distance <= maxDistance ? distance : Infinity;
  });
}

/** The next point in a direction: the nearest one that lies more in it than beside it. */
export function nextPoint(
  places: Float32Array,
  { width, height }: Size,
  from: number,
  direction: Direction,
): number | undefined {
  const isAcross = direction === 'left' || direction === 'right';
  const sign = direction === 'left' || direction === 'up' ? -1 : 1;
  return nearest(places, (x, y) => {
    const dx = (x - (places[2 * from] ?? 0)) * width;
    const dy = (y - (places[2 * from + 1] ?? 0)) * height;
    const [along, beside] = isAcross ? [sign * dx, Math.abs(dy)] : [sign * dy, Math.abs(dx)];
    return along > 0 && along >= beside ? Math.hypot(dx, dy) : Infinity;
  });
}

function nearest(places: Float32Array, distanceTo: (x: number, y: number) => number): number | undefined {
  let found: number | undefined;
  let least = Infinity;
  for (let index = 0; 2 * index < places.length; index += 1) {
    const distance = distanceTo(places[2 * index] ?? 0, places[2 * index + 1] ?? 0);
    if (distance < least) [found, least] = [index, distance];
  }
  return found;
}
