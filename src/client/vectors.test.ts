import { describe, expect, it } from 'vitest';

import { cosineSimilarity, topK } from './vectors.ts';

/** A function as JavaScript sees it. */
function loosely(given: unknown): (...values: readonly unknown[]) => unknown {
  return Function.prototype.call.bind(Object(given), undefined);
}

const refusal = (message: RegExp): unknown =>
  expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) });

describe('the similarity of two vectors', () => {
  it('is the cosine of their angle, whatever their lengths', () => {
    expect(cosineSimilarity([3, 0], [5, 0])).toBe(1);
    expect(cosineSimilarity([1, 0], Float32Array.of(0, 2))).toBe(0);
    expect(cosineSimilarity([1, 1], [-2, -2])).toBeCloseTo(-1, 12);
  });

  it('is 0 for a vector of zeros', () => {
    expect(cosineSimilarity([0, 0], [1, 2])).toBe(0);
    expect(cosineSimilarity([], [])).toBe(0);
  });

  it.each([1e-320, 1e-200, 1e-90, 1e80, 1e160, 1e308])('is exact where the numbers are about %s', (size) => {
    expect(cosineSimilarity([size, 0], [size, size])).toBeCloseTo(Math.SQRT1_2, 12);
    expect(cosineSimilarity([size, 0], [1, 1])).toBeCloseTo(Math.SQRT1_2, 12);
  });

  it.each<[string, unknown, unknown, RegExp]>([
    ['two lengths', [1], [1, 2], /^Expected `other` to be of 1 numbers.*got `2`/],
    ['NaN', [1, Number.NaN], [1, 1], /^Expected `one\[1\]` to be a finite number, got `NaN`/],
    ['Infinity', [1], [Infinity], /^Expected `other\[0\]` to be a finite number/],
    ['texts', ['1'], [1], /^Expected `one\[0\]` to be a finite number, got `1` \(string\)/],
    ['bigints', [1], BigInt64Array.of(1n), /^Expected `other\[0\]` to be a finite number/],
    ['rows', [[1]], [1], /^Expected `one\[0\]` to be a finite number/],
    [
      'empty places',
      Object.assign([], { length: 1 }),
      [1],
      /^Expected `one\[0\]` to be a finite number, got `undefined`/,
    ],
    ['null', null, [1], /^Expected `one` to be a list of numbers/],
    ['an object', [1], { 0: 1 }, /^Expected `other` to be a list of numbers/],
    ['a text', 'ab', [1, 2], /^Expected `one` to be a list of numbers/],
  ])('is none of vectors of %s', (_, one, other, message) => {
    expect(() => loosely(cosineSimilarity)(one, other)).toThrow(refusal(message));
  });
});

it('the nearest vectors come best first, and equal ones in their order', () => {
  expect(
    topK(
      [1, 0],
      [
        [0, 1],
        [1, 0],
        [0.6, 0.8],
        [2, 0],
      ],
      3,
    ),
  ).toEqual([
    { index: 1, score: 1 },
    { index: 3, score: 1 },
    { index: 2, score: expect.closeTo(0.6, 12) },
  ]);
});

it.each<[string, unknown, unknown, unknown, RegExp]>([
  ['a vector with NaN', [1], [[1], [Number.NaN]], 1, /^Expected `vectors\[1\]\[0\]` to be a finite number/],
  ['a vector of another length', [1], [[1], [1, 2]], 1, /^Expected `vectors\[1\]` to be of 1 numbers/],
  [
    'an empty place',
    [1],
    Object.assign([], { length: 1 }),
    1,
    /^Expected `vectors\[0\]` to be a list of numbers/,
  ],
  ['no list', [1], new Set([[1]]), 1, /^Expected `vectors` to be a list of vectors/],
  ['a query that is none', null, [[1]], 1, /^Expected `query` to be a list of numbers/],
  ...[-1, 1.5, Number.NaN, null, '2', undefined].map((count): [string, unknown, unknown, unknown, RegExp] => [
    `the count ${String(count)} (${typeof count})`,
    [1],
    [[1]],
    count,
    /^Expected `count` to be an integer >= 0 or Infinity/,
  ]),
])('the nearest vectors are refused for %s', (_, query, vectors, count, message) => {
  expect(() => loosely(topK)(query, vectors, count)).toThrow(refusal(message));
});
