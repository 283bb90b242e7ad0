import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  END_OF_WEIGHTS,
  LARGEST_WEIGHT,
  UNITS_PER_OCTAVE,
  shareOf,
  sharpnessOf,
  smallestWeightFor,
  weightAt,
  weightOf,
} from './token-weights.ts';

describe('weightAt', () => {
  it('falls with every unit of distance over a whole octave, so that order is never lost', () => {
    let numRises = 0;
    for (let distance = 1; distance <= UNITS_PER_OCTAVE; distance += 1) {
      if (weightAt(distance) >= weightAt(distance - 1)) numRises += 1;
    }
    expect(numRises).toBe(0);
  });

  it('is 2^-x to 3e-7, relative, over the first octave, and to one unit over all', () => {
    let [relative, absolute] = [0, 0];
    for (let distance = 0; distance < END_OF_WEIGHTS; distance += 97) {
      const exact = LARGEST_WEIGHT * 2 ** (-distance / UNITS_PER_OCTAVE);
      const error = Math.abs(weightAt(distance) - exact);
      if (distance < UNITS_PER_OCTAVE) relative = Math.max(relative, error / exact);
      else absolute = Math.max(absolute, error - 3e-7 * exact);
    }
    expect(relative).toBeLessThan(3e-7);
    expect(absolute).toBeLessThanOrEqual(1);
  });

  it('halves from octave to octave', () => {
    expect([0, 1, 2, 31].map((octave) => weightAt(octave * UNITS_PER_OCTAVE))).toEqual([
      LARGEST_WEIGHT,
      2 ** 30,
      2 ** 29,
      1,
    ]);
  });
});

describe('weightOf', () => {
  it('is the exponential of the difference over the temperature', () => {
    fc.assert(
      fc.property(
        fc.float({ min: -100, max: 100, noNaN: true }),
        fc.float({ min: 0, max: 10, noNaN: true }),
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        (largest, below, temperature) => {
          const logit = Math.fround(largest - below);
          const exact = LARGEST_WEIGHT * Math.exp((logit - largest) / temperature);
          const weight = weightOf(logit, largest, sharpnessOf(temperature));
          expect(Math.abs(weight - exact)).toBeLessThan(exact * 4e-6 + 1);
        },
      ),
    );
  });

  it('is 0 for what is masked and for what is too far away to be drawn', () => {
    expect(weightOf(-Infinity, 3, sharpnessOf(1))).toBe(0);
    expect(weightOf(-3e38, 3e38, sharpnessOf(1))).toBe(0);
    expect(weightOf(0, 32 * Math.LN2, sharpnessOf(1))).toBe(0);
  });

  it('is the largest for the likeliest at any temperature', () => {
    for (const temperature of [Number.MIN_VALUE, 1e-30, 1, 1e30, Number.MAX_VALUE]) {
      expect(weightOf(7, 7, sharpnessOf(temperature))).toBe(LARGEST_WEIGHT);
    }
    expect(weightOf(6.999999, 7, sharpnessOf(Number.MIN_VALUE))).toBe(0);
    expect(weightOf(-100, 100, sharpnessOf(Number.MAX_VALUE))).toBe(LARGEST_WEIGHT);
  });
});

describe('smallestWeightFor', () => {
  it('rounds up, and is at least 1', () => {
    expect([0, 2 ** -31, 0.5, 0.5 + 2 ** -40, 1].map(smallestWeightFor)).toEqual([
      1,
      1,
      2 ** 30,
      2 ** 30 + 1,
      2 ** 31,
    ]);
  });
});

describe('shareOf', () => {
  it('is exact where a product of doubles is not', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger().map(Math.abs), fc.integer({ min: 0, max: 2 ** 24 }), (total, units) => {
        expect(BigInt(shareOf(total, units / 2 ** 24))).toBe((BigInt(total) * BigInt(units)) >> 24n);
      }),
    );
  });
});
