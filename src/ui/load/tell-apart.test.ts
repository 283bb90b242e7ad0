import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, it } from 'vitest';

import { contendersOf, medianOf, withinLimit } from './tell-apart.ts';

function contenders(better: 'more' | 'less', ...samples: readonly (readonly number[])[]) {
  return contendersOf(samples, better);
}

type Noise = (random: () => number) => number;

/** Box and Muller 1958. */
const normal: Noise = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const NOISES: Readonly<Record<string, Noise>> = {
  normal: (random) => 1 + 0.05 * normal(random),
  skewed: (random) => Math.exp(0.1 * normal(random)),
  'full of outliers': (random) => 1 + 0.03 * normal(random) - (random() < 0.1 ? 0.3 * random() : 0),
};

/** Measured values of rounds, around these true values of the settings. */
function measure(truths: readonly number[], numRounds: number, noise: Noise, seed: number): number[][] {
  const generator = xoroshiro128plus(seed);
  const random = (): number => uniformFloat64(generator);
  return truths.map((truth) => Array.from({ length: numRounds }, () => truth * noise(random)));
}

describe('settings compared by repeated rounds', () => {
  it.each(Object.entries(NOISES))(
    'differ in fewer than 5 %% of 1,000 experiments where they do not differ, with noise that is %s',
    (_, noise) => {
      let numWrong = 0;
      for (let seed = 0; seed < 1000; seed += 1) {
        const samples = measure([40, 40, 40, 40, 40], 5, noise, seed);
        // The search checks after each round from the third on.
        const isWrong = [3, 4, 5].some(
          (numRounds) =>
            contendersOf(
              samples.map((values) => values.slice(0, numRounds)),
              'more',
            ).length < samples.length,
        );
        if (isWrong) numWrong += 1;
      }
      expect(numWrong).toBeLessThan(50);
    },
  );

  it.each(Object.entries(NOISES))(
    'are found where one is twice as good, with noise that is %s',
    (_, noise) => {
      let numFound = 0;
      for (let seed = 0; seed < 1000; seed += 1) {
        const [only, ...others] = contendersOf(measure([20, 30, 60], 5, noise, seed), 'more');
        if (only === 2 && others.length === 0) numFound += 1;
      }
      expect(numFound).toBeGreaterThan(950);
    },
  );

  it('are as good as each other above a plateau', () => {
    const samples = measure([10, 20, 40, 40], 5, (random) => 1 + 0.02 * normal(random), 7);
    expect(contendersOf(samples, 'more')).toEqual([2, 3]);
  });

  it('are the lowest where less is better', () => {
    expect(contenders('less', [90, 91, 92], [40, 41, 42], [40, 42, 43])).toEqual([1, 2]);
  });

  it('do not differ where a difference is sure and too small to matter', () => {
    expect(contenders('more', [100, 100, 100], [101, 101, 101])).toEqual([0, 1]);
    expect(contenders('more', [100, 100, 100], [103, 103, 103])).toEqual([1]);
  });

  it('are no worse for a quiet neighbor: each counts as noisy as the typical one', () => {
    expect(contenders('more', [100, 100, 100], [90, 104, 112], [88, 103, 115])).toEqual([0, 1, 2]);
  });

  it('that served nothing lose to those that did', () => {
    expect(contenders('more', [0, 0, 0], [5, 5.1, 5.2])).toEqual([1]);
    expect(contenders('more', [0, 0, 0], [0, 0, 0])).toEqual([0, 1]);
    expect(contendersOf([], 'more')).toEqual([]);
  });

  it('are over a limit only where more than their spread is', () => {
    expect(
      withinLimit(
        [
          [1990, 2010, 2030],
          [2600, 2610, 2620],
          [100, 101, 102],
        ],
        2000,
      ),
    ).toEqual([0, 2]);
  });
});

it('a median is the middle value, or the mean of the middle two', () => {
  expect(medianOf([3, 1, 2])).toBe(2);
  expect(medianOf([4, 1, 2, 3])).toBe(2.5);
  expect(medianOf([])).toBeNaN();
});
