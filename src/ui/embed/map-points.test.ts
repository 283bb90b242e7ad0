import { expect, it } from 'vitest';

import { nextPoint, pointAt } from './map-points.ts';

const SIZE = { width: 200, height: 100 };
/** A cross around the middle, and a point beside its right arm. */
const PLACES = Float32Array.of(0.5, 0.5, 0.1, 0.5, 0.9, 0.5, 0.5, 0.1, 0.5, 0.9, 0.75, 0.55);
const [MIDDLE, LEFT, RIGHT, TOP, BOTTOM, BESIDE] = [0, 1, 2, 3, 4, 5];

it('finds the point under the pointer, if one is near', () => {
  expect(pointAt(PLACES, SIZE, { x: 21, y: 48 }, 12)).toBe(LEFT);
  expect(pointAt(PLACES, SIZE, { x: 40, y: 90 }, 12)).toBeUndefined();
});

function pointsAround(from: number) {
  return (['left', 'right', 'up', 'down'] as const).map((direction) =>
    nextPoint(PLACES, SIZE, from, direction),
  );
}

it('goes to the nearest point in a direction, and stays where there is none', () => {
  expect(pointsAround(MIDDLE)).toEqual([LEFT, BESIDE, TOP, BOTTOM]);
  expect(pointsAround(RIGHT)).toEqual([BESIDE, undefined, undefined, undefined]);
});
