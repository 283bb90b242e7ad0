import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniform } from './random.ts';
import type { SamplingParams } from './request.ts';
import { createSampler } from './sampling.ts';
import { GREEDY } from './test-support.ts';

const SAMPLED: SamplingParams = { temperature: 1, topK: 0, topP: 1, seed: 1 };
const LOGITS = Float32Array.of(1.5, -0.5, 3, 0.25, 2, 3, -4, 0);

/** Probabilities by definition: everything sorted, nothing clever. */
function distribution(logits: Float32Array, { temperature, topK, topP }: SamplingParams): number[] {
  const largest = Math.max(...logits);
  const weights = Array.from(logits, (logit) => Math.exp((logit - largest) / temperature));
  const ids = Array.from(logits.keys()).toSorted((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b);
  const candidates = topK === 0 ? ids : ids.slice(0, topK);
  const weightOf = (list: readonly number[]): number => list.reduce((sum, id) => sum + (weights[id] ?? 0), 0);
  const total = weightOf(candidates);
  const numKept =
    candidates.findIndex((_, index) => weightOf(candidates.slice(0, index + 1)) >= topP * total) + 1;
  const kept = topP < 1 ? candidates.slice(0, numKept) : candidates;
  return weights.map((weight, id) => (kept.includes(id) ? weight / weightOf(kept) : 0));
}

/** How often each token is drawn at positions 0, 1, 2, … */
function countDraws(logits: Float32Array, params: SamplingParams, numDraws: number): number[] {
  const sampleToken = createSampler(logits.length);
  const counts = Array.from(logits, () => 0);
  for (let position = 0; position < numDraws; position += 1) {
    const id = sampleToken(logits, params, position);
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}

function drawnIds(logits: Float32Array, params: Partial<SamplingParams>): number[] {
  const counts = countDraws(logits, { ...SAMPLED, ...params }, 2000);
  return [...counts.keys()].filter((id) => (counts[id] ?? 0) > 0);
}

describe('greedy', () => {
  const sampleToken = createSampler(LOGITS.length);

  it('takes the lowest id among the largest logits', () => {
    expect(sampleToken(LOGITS, GREEDY, 0)).toBe(2);
  });

  it('ignores seed, position, top-k and top-p', () => {
    expect(sampleToken(LOGITS, { temperature: 0, topK: 3, topP: 0.1, seed: 99 }, 12)).toBe(2);
  });

  it('passes over tokens that are masked with -Infinity', () => {
    const logits = Float32Array.of(-Infinity, -Infinity, -7);
    expect(createSampler(3)(logits, GREEDY, 0)).toBe(2);
  });
});

describe('sampling', () => {
  // 0.1 % points of the chi-square distribution by degrees of freedom.
  const CRITICAL = [0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32];

  it.each([
    ['temperature 1', {}],
    ['temperature 0.5', { temperature: 0.5 }],
    ['temperature 2.5', { temperature: 2.5 }],
    ['top-k 3', { topK: 3 }],
    ['top-p 0.8', { topP: 0.8 }],
    ['top-k 5, then top-p 0.9', { topK: 5, topP: 0.9, temperature: 1.3 }],
  ])('with %s draws 100,000 tokens as the exact distribution has them', (_, overrides) => {
    const params = { ...SAMPLED, seed: 2026, ...overrides };
    const exact = distribution(LOGITS, params);
    const counts = countDraws(LOGITS, params, 100_000);
    const drawable = exact.flatMap((probability, id) => (probability > 0 ? [{ probability, id }] : []));
    const chiSquare = drawable.reduce((sum, { probability, id }) => {
      const expected = probability * 100_000;
      return sum + ((counts[id] ?? 0) - expected) ** 2 / expected;
    }, 0);
    expect(counts.filter((count, id) => count > 0 && exact[id] === 0)).toEqual([]);
    expect(chiSquare).toBeLessThan(CRITICAL[drawable.length - 1] ?? 0);
  });

  it('keeps the k likeliest, the lower id among equals', () => {
    expect(drawnIds(LOGITS, { topK: 1 })).toEqual([2]);
    expect(drawnIds(LOGITS, { topK: 2 })).toEqual([2, 5]);
    expect(drawnIds(new Float32Array(6), { topK: 3 })).toEqual([0, 1, 2]);
  });

  it('keeps the smallest set that reaches p, the lower id among equals', () => {
    expect(drawnIds(new Float32Array(4), { topP: 0.5 })).toEqual([0, 1]);
    expect(drawnIds(new Float32Array(4), { topP: 0.51 })).toEqual([0, 1, 2]);
    expect(drawnIds(LOGITS, { topP: 1e-9 })).toEqual([2]);
  });

  it('takes top-p of what top-k has left', () => {
    const logits = Float32Array.from([0.4, 0.3, 0.2, 0.1], Math.log);
    expect(drawnIds(logits, { topP: 0.6 })).toEqual([0, 1]);
    // Of the first two alone, the first holds 0.57.
    expect(drawnIds(logits, { topK: 2, topP: 0.55 })).toEqual([0]);
  });

  it('is sure of the likeliest as the temperature goes to zero', () => {
    expect(drawnIds(Float32Array.of(1, 2, 1.999), { temperature: 1e-5 })).toEqual([1]);
    expect(drawnIds(Float32Array.of(1, 2, 1.999), { temperature: Number.MIN_VALUE, topP: 0.5 })).toEqual([1]);
  });

  it('never draws a token that is masked with -Infinity', () => {
    expect(drawnIds(Float32Array.of(-Infinity, 0, -Infinity, 0), { temperature: 5 })).toEqual([1, 3]);
    expect(drawnIds(Float32Array.of(-Infinity, 0, -Infinity, 0), { topK: 3, topP: 0.99 })).toEqual([1, 3]);
  });

  it('walks the kept tokens in order of id up to uniform(seed, position)', () => {
    const sampleToken = createSampler(4);
    const quarters = new Float32Array(4);
    for (let position = 0; position < 200; position += 1) {
      const expected = Math.floor(uniform(7, position) * 4);
      expect(sampleToken(quarters, { ...SAMPLED, seed: 7 }, position)).toBe(expected);
    }
  });

  it('walks what top-p has left in order of id too, not of likelihood', () => {
    const sampleToken = createSampler(4);
    const logits = Float32Array.from([0.1, 0.2, 0.3, 0.4], Math.log);
    for (let position = 0; position < 200; position += 1) {
      const random = uniform(7, position);
      const expected = random < 2 / 9 ? 1 : random < 5 / 9 ? 2 : 3;
      expect(sampleToken(logits, { ...SAMPLED, seed: 7, topP: 0.85 }, position)).toBe(expected);
    }
  });

  it('draws the upper of two tokens when the random number is exactly their border', () => {
    const vocabSize = 2 ** 16;
    let position = 0;
    while (!Number.isInteger(uniform(7, position) * vocabSize)) position += 1;
    const id = createSampler(vocabSize)(new Float32Array(vocabSize), { ...SAMPLED, seed: 7 }, position);
    expect(id).toBe(uniform(7, position) * vocabSize);
  });

  it('hangs on nothing that the sampler did before', () => {
    const used = createSampler(LOGITS.length);
    for (let position = 0; position < 20; position += 1) used(LOGITS, { ...SAMPLED, topK: 4 }, position);
    const params = { ...SAMPLED, topP: 0.9 };
    for (let position = 0; position < 50; position += 1) {
      expect(used(LOGITS, params, position)).toBe(createSampler(LOGITS.length)(LOGITS, params, position));
    }
  });

  it('draws only what the definition allows, for any logits and parameters', () => {
    const logits = fc.array(fc.float({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 40 });
    const params = fc.record({
      temperature: fc.double({ min: 0.05, max: 5, noNaN: true }),
      topK: fc.integer({ min: 0, max: 45 }),
      topP: fc.double({ min: 0.01, max: 1, noNaN: true }),
      seed: fc.nat(),
    });
    fc.assert(
      fc.property(logits, params, fc.nat({ max: 1023 }), (values, sampling, position) => {
        const row = Float32Array.from(values);
        const id = createSampler(row.length)(row, sampling, position);
        expect(distribution(row, sampling)[id]).toBeGreaterThan(0);
      }),
    );
  });

  it('serves a vocabulary of 50,257 with any parameters', () => {
    const logits = Float32Array.from({ length: 50_257 }, (_, id) => 8 * uniform(3, id));
    const sampleToken = createSampler(logits.length);
    for (const overrides of [{}, { topK: 40 }, { topP: 0.95 }, { topK: 1000, topP: 0.5 }]) {
      const id = sampleToken(logits, { ...SAMPLED, ...overrides }, 1);
      expect(logits[id]).toBeGreaterThan(0);
    }
  });
});

describe('rejects', () => {
  it.each([
    ['NaN', Float32Array.of(1, NaN, 3), 'Expected the logit of token 1 to be finite, got NaN'],
    [
      '+Infinity',
      Float32Array.of(1, 2, Infinity),
      'Expected the logit of token 2 to be finite, got Infinity',
    ],
    [
      'only -Infinity',
      new Float32Array(3).fill(-Infinity),
      'Expected a finite logit, got -Infinity for every token',
    ],
    [
      'a row of another length',
      new Float32Array(2),
      'Expected 3 logits, one per token of the vocabulary, got 2',
    ],
  ])('%s', (_, logits, message) => {
    expect(() => createSampler(3)(logits, GREEDY, 0)).toThrow(new RangeError(message));
    expect(() => createSampler(3)(logits, SAMPLED, 0)).toThrow(new RangeError(message));
  });
});
