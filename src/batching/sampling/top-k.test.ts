import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLikelihood, topK } from './top-k.ts';

function sortedTopK(logits: Float32Array, k: number): number[] {
  const ids = Array.from(logits.keys()).toSorted((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b);
  return ids.slice(0, k).toSorted((a, b) => a - b);
}

describe('topK', () => {
  it('keeps the largest, in order of id', () => {
    const logits = Float32Array.of(1, 5, 3, 4, 2);
    expect([...topK(logits, 3, new Int32Array(5))]).toEqual([1, 2, 3]);
  });

  it('prefers the lower id among equals', () => {
    const logits = Float32Array.of(2, 7, 7, 7, 7);
    expect([...topK(logits, 2, new Int32Array(5))]).toEqual([1, 2]);
  });

  it.each([5, 6, 1000])('keeps everything for k = %i of 5', (k) => {
    expect([...topK(Float32Array.of(3, 1, 2, 5, 4), k, new Int32Array(5))]).toEqual([0, 1, 2, 3, 4]);
  });

  it('agrees with a full sort', () => {
    const logit = fc.integer({ min: -3, max: 3 });
    fc.assert(
      fc.property(
        fc.array(logit, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 60 }),
        (values, k) => {
          const logits = Float32Array.from(values);
          expect([...topK(logits, k, new Int32Array(logits.length))]).toEqual(sortedTopK(logits, k));
        },
      ),
    );
  });
});

describe('compareLikelihood', () => {
  it('orders the likeliest first, the lower id among equals', () => {
    const logits = Float32Array.of(1, 3, -Infinity, 3, -Infinity);
    expect([4, 3, 2, 1, 0].toSorted(compareLikelihood(logits))).toEqual([1, 3, 0, 2, 4]);
  });
});
