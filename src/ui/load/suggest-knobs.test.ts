import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, it } from 'vitest';

import { combineRounds, isMeasurable, rank } from './suggest-knobs.ts';
import { describeSuggestion } from './suggestion-text.ts';
import { createTrial } from './test-support.ts';
import type { Trial } from './summarize.ts';

interface Truth {
  readonly goodput: number;
  readonly p95?: number;
}

/** Five rounds under each setting, whose figures are off by up to 5 %. */
function createRounds(truths: Readonly<Record<string, Truth>>, seed = 1): readonly Trial[] {
  const generator = xoroshiro128plus(seed);
  const noisy = (value: number): number => value * (0.95 + 0.1 * uniformFloat64(generator));
  return Object.entries(truths).flatMap(([label, { goodput, p95 = 300 }]) =>
    Array.from({ length: 5 }, () => {
      const tail = noisy(p95);
      return createTrial(label, {
        goodputPerSecond: noisy(goodput),
        e2eMs: { p50: tail / 2, p95: tail, p99: tail },
      });
    }),
  );
}

const labelsOf = (contenders: readonly { readonly label: string }[] | undefined) =>
  contenders?.map(({ label }) => label);

describe('a ranking of settings', () => {
  it('has first what serves the most of what keeps the limit', () => {
    const trials = createRounds({
      '1': { goodput: 2 },
      '8': { goodput: 9 },
      '16': { goodput: 12, p95: 600 },
    });
    const ranking = rank(trials, 500);
    expect(labelsOf(ranking?.contenders)).toEqual(['8']);
    expect(ranking && isMeasurable(ranking)).toBe(true);
  });

  it('breaks a tie by p95', () => {
    const trials = createRounds({ '4': { goodput: 9, p95: 400 }, '8': { goodput: 9, p95: 200 } });
    expect(labelsOf(rank(trials, 500)?.contenders)).toEqual(['8']);
  });

  it('has the first of those that nothing tells apart, and says that it does not', () => {
    const ranking = rank(
      createRounds({ '4': { goodput: 9 }, '8': { goodput: 9.1 }, '16': { goodput: 9 } }),
      500,
    );
    expect(ranking?.best.label).toBe('4');
    expect(ranking && isMeasurable(ranking)).toBe(false);
  });

  it('goes by p95 alone where nothing keeps the limit, and leaves out what finished nothing', () => {
    const none = Array.from({ length: 5 }, () => createTrial('1', { goodputPerSecond: 0, e2eMs: undefined }));
    const trials = createRounds({ '8': { goodput: 3, p95: 900 }, '16': { goodput: 2, p95: 700 } });
    expect(labelsOf(rank([...none, ...trials], 500)?.contenders)).toEqual(['16']);
  });

  it('is none where nothing finished, and where requests were stopped', () => {
    expect(rank([], 500)).toBeUndefined();
    const stopped = createTrial('8', { numCancelled: 1, e2eMs: { p50: 1, p95: 2, p99: 3 } });
    expect(rank([...createRounds({ '4': { goodput: 5 } }), stopped], 500)).toBeUndefined();
  });

  it('is the same in three runs of one load, whatever their noise', () => {
    const truths = {
      '1': { goodput: 8 },
      '2': { goodput: 15 },
      '4': { goodput: 27 },
      '8': { goodput: 40 },
      '16': { goodput: 40 },
    };
    const runs = [1, 2, 3].map((seed) => labelsOf(rank(createRounds(truths, seed), 500)?.contenders));
    expect(runs).toEqual([
      ['8', '16'],
      ['8', '16'],
      ['8', '16'],
    ]);
  });
});

it('the rounds of a setting come to the median of each figure, and to the sum of each count', () => {
  const trials = [3, 1, 2].map((value) =>
    createTrial('8', {
      numSent: 5,
      goodputPerSecond: value,
      e2eMs: { p50: value, p95: 10 * value, p99: 20 * value },
    }),
  );
  expect(combineRounds(trials)).toMatchObject([
    {
      label: '8',
      rounds: trials,
      summary: { numSent: 15, goodputPerSecond: 2, e2eMs: { p50: 2, p95: 20, p99: 40 }, ttftMs: undefined },
    },
  ]);
});

const sizesOf = (truths: Readonly<Record<string, Truth>>) => {
  const trials = createRounds(truths).map((trial) => ({
    ...trial,
    policy: { ...trial.policy, maxBatchSize: Number(trial.label) },
  }));
  const sizes = rank(trials, 500);
  if (!sizes) throw new Error('No ranking');
  return sizes;
};

describe('a suggestion in words', () => {
  it('says “No measurable difference” where there is none, and what that is based on', () => {
    const { title, reasons } = describeSuggestion(
      { sizes: sizesOf({ '1': { goodput: 8 }, '2': { goodput: 8 } }), isStopped: false },
      500,
    );
    expect(title).toBe('No measurable difference');
    expect(reasons[0]).toMatch(/^Batch sizes 1 and 2: medians of [\d.]+ to [\d.]+ requests\/s in time\.$/);
    expect(reasons[1]).toMatch(
      /^Batch size [12] alone: [\d.]+ requests\/s in time \([\d.]+ to [\d.]+ in 5 rounds\), p95 .* ms \(/,
    );
  });

  it('names the best, its rounds and spread, its equals, and the best of the rest', () => {
    const sizes = sizesOf({
      '2': { goodput: 4 },
      '4': { goodput: 9 },
      '8': { goodput: 20 },
      '16': { goodput: 20 },
    });
    const { title, reasons } = describeSuggestion({ sizes, isStopped: false }, 500);
    expect(title).toBe('Max batch size 8, batch wait timeout 0 ms');
    expect(reasons[0]).toBe('Under continuous, this serves the most requests within 500 ms.');
    expect(reasons[1]).toContain('in 5 rounds');
    expect(reasons[2]).toMatch(
      /^Batch size 16: no measurable difference\. Batch size 4: [\d.]+ requests\/s in time, p95 /,
    );
  });

  it('says that it is the best so far where the search was stopped', () => {
    const sizes = sizesOf({ '2': { goodput: 8 }, '4': { goodput: 8 } });
    const { title, reasons } = describeSuggestion({ sizes, isStopped: true }, 500);
    expect(title).toMatch(/^Best so far: max batch size [24], batch wait timeout 0 ms$/);
    expect(reasons.at(-1)).toBe('The search was stopped before its rounds were over.');
  });

  it('does not claim a limit that nothing kept', () => {
    const sizes = sizesOf({ '2': { goodput: 4, p95: 900 }, '4': { goodput: 4, p95: 600 } });
    const { reasons } = describeSuggestion({ sizes, isStopped: false }, 500);
    expect(reasons[0]).toBe('Under continuous, this comes closest to 500 ms for 95 % of the requests.');
  });
});
