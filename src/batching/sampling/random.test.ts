import { describe, expect, it } from 'vitest';
import { continuationSeed, philox2x32, uniform } from './random.ts';

describe('philox2x32', () => {
  // The known answers that Random123 ships for philox2x32-10.
  it.each([
    [[0x00000000, 0x00000000], 0x00000000, [0xff1dae59, 0x6cd10df2]],
    [[0xffffffff, 0xffffffff], 0xffffffff, [0x2c3f628b, 0xab4fd7ad]],
    [[0x243f6a88, 0x85a308d3], 0x13198a2e, [0xdd7ce038, 0xf62a4c12]],
  ] as const)('gives the published answer for %o', (counter, key, answer) => {
    expect(philox2x32(counter, key)).toEqual(answer);
  });
});

describe('uniform', () => {
  const draws = Array.from({ length: 1 << 16 }, (_, index) => uniform(index >> 8, index & 255));

  it('is in [0, 1) and a multiple of 2^-24', () => {
    expect(draws.every((draw) => draw >= 0 && draw < 1 && Number.isInteger(draw * 2 ** 24))).toBe(true);
  });

  it('repeats itself for the same seed and position only', () => {
    expect(uniform(7, 3)).toBe(uniform(7, 3));
    expect(new Set(draws).size).toBeGreaterThan(draws.length * 0.995);
  });

  it('fills 64 equal bins evenly over neighboring seeds and positions', () => {
    const counts = Array.from({ length: 64 }, () => 0);
    for (const draw of draws) counts[Math.floor(draw * 64)] = (counts[Math.floor(draw * 64)] ?? 0) + 1;
    const expected = draws.length / 64;
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(chiSquare).toBeLessThan(103.4); // 0.1 % point of 63 degrees of freedom
  });

  it('does not correlate from one position to the next', () => {
    const products = draws.slice(1).map((draw, index) => (draw - 0.5) * ((draws[index] ?? 0) - 0.5));
    const correlation = (products.reduce((sum, product) => sum + product, 0) / products.length) * 12;
    expect(Math.abs(correlation)).toBeLessThan(0.013); // 3.3 standard errors
  });
});

describe('continuationSeed', () => {
  it('is the seed itself for the first continuation', () => {
    expect([0, 7, 2 ** 32 - 1].map((seed) => continuationSeed(seed, 0))).toEqual([0, 7, 2 ** 32 - 1]);
  });

  it('is another unsigned 32-bit integer for each continuation of each seed', () => {
    const seeds = Array.from({ length: 16_000 }, (_, index) => continuationSeed(index >> 4, index & 15));
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)).toBe(true);
    expect(new Set(seeds).size).toBe(seeds.length);
  });
});
