import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenCounts } from './adjust-logits.ts';
import { uniform } from './random.ts';
import type { SamplingParams } from '../options/sampling-options.ts';
import { emptyMask, forbidToken } from './token-mask.ts';
import { createSampler, type SampledToken } from './sampling.ts';
import { GREEDY } from '../generation/request.ts';
import { IS_WHOLE } from '../testing/whole-run.ts';

const NUM_DRAWS = IS_WHOLE ? 100_000 : 20_000;

const SAMPLED: SamplingParams = { ...GREEDY, temperature: 1, seed: 1 };
const LOGITS = Float32Array.of(1.5, -0.5, 3, 0.25, 2, 3, -4, 0);
const NO_COUNTS: TokenCounts = new Map();

function sampleOne(
  logits: Float32Array,
  params: SamplingParams,
  position = 0,
  tokenCounts = NO_COUNTS,
): SampledToken {
  return createSampler(logits.length)(logits, { params, position, tokenCounts });
}

function tokenOf(...args: Parameters<typeof sampleOne>): number {
  return sampleOne(...args).tokenId;
}

/** Bias and penalties by definition. */
function adjusted(logits: Float32Array, params: SamplingParams, tokenCounts: TokenCounts): number[] {
  return Array.from(logits, (raw, id) => {
    const logit = raw + (params.logitBias[id] ?? 0);
    const count = tokenCounts.get(id);
    if (count === undefined) return logit;
    const repeated = logit > 0 ? logit / params.repetitionPenalty : logit * params.repetitionPenalty;
    return repeated - params.frequencyPenalty * count - (count > 0 ? params.presencePenalty : 0);
  });
}

/** Probabilities by definition: everything sorted, nothing clever. */
function distribution(raw: Float32Array, params: SamplingParams, tokenCounts = NO_COUNTS): number[] {
  const logits = adjusted(raw, params, tokenCounts);
  const largest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp((logit - largest) / params.temperature));
  const ids = [...logits.keys()]
    .toSorted((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b)
    .filter((id) => (weights[id] ?? 0) >= params.minP);
  const candidates = params.topK === 0 ? ids : ids.slice(0, params.topK);
  const weightOf = (list: readonly number[]): number => list.reduce((sum, id) => sum + (weights[id] ?? 0), 0);
  const total = weightOf(candidates);
  const numKept =
    candidates.findIndex((_, index) => weightOf(candidates.slice(0, index + 1)) >= params.topP * total) + 1;
  const kept = params.topP < 1 ? candidates.slice(0, numKept) : candidates;
  return weights.map((weight, id) => (kept.includes(id) ? weight / weightOf(kept) : 0));
}

/** How often each token is drawn at positions 0, 1, 2, … */
function countDraws(
  logits: Float32Array,
  params: SamplingParams,
  numDraws: number,
  tokenCounts = NO_COUNTS,
): number[] {
  const sampleToken = createSampler(logits.length);
  const counts = Array.from(logits, () => 0);
  for (let position = 0; position < numDraws; position += 1) {
    const { tokenId } = sampleToken(logits, { params, position, tokenCounts });
    counts[tokenId] = (counts[tokenId] ?? 0) + 1;
  }
  return counts;
}

function drawnIds(logits: Float32Array, params: Partial<SamplingParams>, tokenCounts = NO_COUNTS): number[] {
  const counts = countDraws(logits, { ...SAMPLED, ...params }, 2000, tokenCounts);
  return [...counts.keys()].filter((id) => (counts[id] ?? 0) > 0);
}

describe('greedy', () => {
  it('takes the lowest id among the largest logits', () => {
    expect(tokenOf(LOGITS, GREEDY)).toBe(2);
  });

  it('ignores seed, position, top-k, top-p and min-p', () => {
    expect(tokenOf(LOGITS, { ...GREEDY, topK: 3, topP: 0.1, minP: 1, seed: 99 }, 12)).toBe(2);
  });

  it('passes over tokens that are masked with -Infinity', () => {
    const logits = Float32Array.of(-Infinity, -Infinity, -7);
    expect(tokenOf(logits, GREEDY)).toBe(2);
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
    ['min-p 0.1', { minP: 0.1 }],
    ['bias and penalties', { logitBias: { 6: 6, 2: -1 }, repetitionPenalty: 1.5, frequencyPenalty: 0.5 }],
    ['everything', { temperature: 1.7, minP: 0.05, topK: 6, topP: 0.97, presencePenalty: -1 }],
  ])(
    `with %s draws ${NUM_DRAWS.toLocaleString('en')} tokens as the exact distribution has them`,
    (_, overrides) => {
      const params = { ...SAMPLED, seed: 2026, ...overrides };
      const tokenCounts = new Map([
        [0, 2],
        [4, 1],
        [5, 0],
      ]);
      const exact = distribution(LOGITS, params, tokenCounts);
      const counts = countDraws(LOGITS, params, NUM_DRAWS, tokenCounts);
      const drawable = exact.flatMap((probability, id) => (probability > 0 ? [{ probability, id }] : []));
      const chiSquare = drawable.reduce((sum, { probability, id }) => {
        const expected = probability * NUM_DRAWS;
        return sum + ((counts[id] ?? 0) - expected) ** 2 / expected;
      }, 0);
      expect(counts.filter((count, id) => count > 0 && exact[id] === 0)).toEqual([]);
      expect(chiSquare).toBeLessThan(CRITICAL[drawable.length - 1] ?? 0);
    },
  );

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
    // Among the first two alone, the first holds 0.57.
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
    const quarters = new Float32Array(4);
    for (let position = 0; position < 200; position += 1) {
      const expected = Math.floor(uniform(7, position) * 4);
      expect(tokenOf(quarters, { ...SAMPLED, seed: 7 }, position)).toBe(expected);
    }
  });

  it('walks what top-p has left in order of id too, not of likelihood', () => {
    const logits = Float32Array.from([0.1, 0.2, 0.3, 0.4], Math.log);
    for (let position = 0; position < 200; position += 1) {
      const random = uniform(7, position);
      const expected = random < 2 / 9 ? 1 : random < 5 / 9 ? 2 : 3;
      expect(tokenOf(logits, { ...SAMPLED, seed: 7, topP: 0.85 }, position)).toBe(expected);
    }
  });

  it('draws the upper of two tokens when the random number is exactly their border', () => {
    const vocabSize = 2 ** 16;
    let position = 0;
    while (!Number.isInteger(uniform(7, position) * vocabSize)) position += 1;
    const id = tokenOf(new Float32Array(vocabSize), { ...SAMPLED, seed: 7 }, position);
    expect(id).toBe(uniform(7, position) * vocabSize);
  });

  it('hangs on nothing that the sampler did before', () => {
    const used = createSampler(LOGITS.length);
    const tokenCounts = new Map([[2, 3]]);
    const before: SamplingParams = {
      ...SAMPLED,
      topK: 4,
      presencePenalty: 2,
      logitBias: { 1: 9 },
      logprobs: 3,
    };
    for (let position = 0; position < 20; position += 1)
      used(LOGITS, { params: before, position, tokenCounts });
    const params = { ...SAMPLED, topP: 0.9, logprobs: 1 };
    for (let position = 0; position < 50; position += 1) {
      expect(used(LOGITS, { params, position, tokenCounts })).toEqual(
        sampleOne(LOGITS, params, position, tokenCounts),
      );
    }
  });

  it('leaves the logits as they are', () => {
    const logits = LOGITS.slice();
    sampleOne(logits, { ...SAMPLED, logitBias: { 0: 5 }, repetitionPenalty: 2 }, 0, new Map([[1, 1]]));
    expect(logits).toEqual(LOGITS);
  });

  it('draws only what the definition allows, for any logits and parameters', () => {
    const logits = fc.array(fc.float({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 40 });
    const params = fc.record({
      temperature: fc.double({ min: 0.05, max: 5, noNaN: true }),
      topK: fc.integer({ min: 0, max: 45 }),
      topP: fc.double({ min: 0.01, max: 1, noNaN: true }),
      minP: fc.double({ min: 0, max: 1, noNaN: true }),
      repetitionPenalty: fc.double({ min: 0.5, max: 2, noNaN: true }),
      presencePenalty: fc.double({ min: -2, max: 2, noNaN: true }),
      frequencyPenalty: fc.double({ min: -2, max: 2, noNaN: true }),
      logitBias: fc.constantFrom({}, { 0: 3, 1: -100 }),
      logprobs: fc.constant(undefined),
      seed: fc.nat(),
    });
    const tokenCounts = new Map([
      [0, 0],
      [1, 1],
      [2, 5],
    ]);
    // The reference computes in doubles, so rounding can put a token at the border on either side.
    const slack = 1e-5;
    fc.assert(
      fc.property(logits, params, fc.nat({ max: 1023 }), (values, sampling, position) => {
        const row = Float32Array.from(values);
        const known = new Map([...tokenCounts].filter(([tokenId]) => tokenId < row.length));
        const logitBias = row.length > 1 ? sampling.logitBias : {};
        const id = tokenOf(row, { ...sampling, logitBias }, position, known);
        const wider = {
          ...sampling,
          logitBias,
          topP: Math.min(1, sampling.topP + slack),
          minP: sampling.minP * (1 - slack),
        };
        const nearTies = adjusted(row, wider, known);
        const chosen = nearTies[id] ?? Number.NaN;
        const allowed = distribution(row, wider, known);
        expect(
          nearTies.some((logit, other) => (allowed[other] ?? 0) > 0 && Math.abs(logit - chosen) < slack),
        ).toBe(true);
      }),
    );
  });

  it('serves a vocabulary of 50,257 with any parameters', () => {
    const logits = Float32Array.from({ length: 50_257 }, (_, id) => 8 * uniform(3, id));
    for (const overrides of [{}, { topK: 40 }, { topP: 0.95 }, { topK: 1000, topP: 0.5 }]) {
      const id = tokenOf(logits, { ...SAMPLED, ...overrides }, 1);
      expect(logits[id]).toBeGreaterThan(0);
    }
  });
});

describe('min-p', () => {
  const logits = Float32Array.from([0.5, 0.25, 0.05, 0.2], Math.log);

  it('keeps what is at least that fraction as likely as the likeliest', () => {
    expect(drawnIds(logits, { minP: 0.39 })).toEqual([0, 1, 3]);
    expect(drawnIds(logits, { minP: 0.41 })).toEqual([0, 1]);
    expect(drawnIds(logits, { minP: 1 })).toEqual([0]);
  });

  it('comes after temperature and before top-p', () => {
    expect(drawnIds(logits, { minP: 0.41, temperature: 2 })).toEqual([0, 1, 3]);
    // The first holds 0.67 of the first two, and 0.5 of all four.
    expect(drawnIds(logits, { minP: 0.41, topP: 0.6 })).toEqual([0]);
  });
});

describe('bias and penalties', () => {
  const [prompt, once, thrice] = [0, 1, 2];
  const tokenCounts = new Map([
    [prompt, 0],
    [once, 1],
    [thrice, 3],
  ]);
  const greedy = (logits: number[], overrides: Partial<SamplingParams>): number =>
    tokenOf(Float32Array.from(logits), { ...GREEDY, ...overrides }, 0, tokenCounts);

  it('adds a bias to single tokens, also when greedy', () => {
    expect(greedy([5, 4, 3, 2], { logitBias: { 3: 3.5 } })).toBe(3);
    expect(greedy([5, 4, 3, 2], { logitBias: { 0: -100, 1: -100 } })).toBe(2);
  });

  it('divides positive and multiplies negative logits of seen tokens by the repetition penalty', () => {
    expect(greedy([3, 3, 3, 2], { repetitionPenalty: 1.4 })).toBe(0);
    expect(greedy([3, 3, 3, 2], { repetitionPenalty: 1.6 })).toBe(3);
    expect(greedy([-1, -1, -1, -1.5], { repetitionPenalty: 1.4 })).toBe(0);
    expect(greedy([-1, -1, -1, -1.5], { repetitionPenalty: 1.6 })).toBe(3);
  });

  it('takes the frequency penalty once for each time in the output, and never for the prompt', () => {
    expect(greedy([1, 3, 5, 1.5], { frequencyPenalty: 1.1 })).toBe(1);
    expect(greedy([1, 2, 4, 1.5], { frequencyPenalty: 1 })).toBe(3);
    expect(greedy([2, 2, 4, 1.5], { frequencyPenalty: 1 })).toBe(0);
  });

  it('takes the presence penalty once for what is in the output, and never for the prompt', () => {
    expect(greedy([1, 2, 4, 1.5], { presencePenalty: 2 })).toBe(2);
    expect(greedy([2, 2, 3, 1.5], { presencePenalty: 2 })).toBe(0);
    expect(greedy([1, 2, 3, 1.5], { presencePenalty: 2 })).toBe(3);
  });

  it('come in the order bias, repetition, frequency and presence', () => {
    // (1 + 3) / 2 - 1 = 1; repetition first makes 2.5, the other penalties before it 1.5.
    const params = { logitBias: { 1: 3 }, repetitionPenalty: 2, presencePenalty: 0.5, frequencyPenalty: 0.5 };
    expect(greedy([-9, 1, -9, 0.9], params)).toBe(1);
    expect(greedy([-9, 1, -9, 1.1], params)).toBe(3);
  });

  it('leave masked tokens masked', () => {
    const logits = [-Infinity, 0, -Infinity, -1];
    expect(greedy(logits, { logitBias: { 0: 100 }, repetitionPenalty: 0.5, presencePenalty: -2 })).toBe(1);
  });
});

describe('logprobs', () => {
  const probabilities = [0.1, 0.4, 0.2, 0.3];
  const logits = Float32Array.from(probabilities, (probability) => 7 + Math.log(probability));
  const entryOf = (tokenId: number) => ({
    tokenId,
    logprob: expect.closeTo(Math.log(probabilities[tokenId] ?? 0), 6),
  });

  it('are left out where they are not asked for', () => {
    expect(sampleOne(logits, GREEDY).logprobs).toBeUndefined();
  });

  it('give the likeliest in order, and the sampled token', () => {
    expect(sampleOne(logits, { ...GREEDY, logprobs: 3 }).logprobs).toEqual({
      ...entryOf(1),
      top: [entryOf(1), entryOf(3), entryOf(2)],
    });
  });

  it('give the sampled token alone for 0, and every token where more are asked for than there are', () => {
    expect(sampleOne(logits, { ...GREEDY, logprobs: 0 }).logprobs).toEqual({ ...entryOf(1), top: [] });
    expect(sampleOne(logits, { ...GREEDY, logprobs: 20 }).logprobs?.top).toHaveLength(4);
  });

  it("are the model's own, whatever else is asked for", () => {
    const params: SamplingParams = {
      ...SAMPLED,
      temperature: 0.3,
      topK: 1,
      logitBias: { 0: 100 },
      repetitionPenalty: 3,
      logprobs: 2,
    };
    expect(sampleOne(logits, params, 0, new Map([[1, 2]])).logprobs).toEqual({
      ...entryOf(0),
      top: [entryOf(1), entryOf(3)],
    });
  });

  it('sum to 1 over the vocabulary', () => {
    const row = Float32Array.from({ length: 50_257 }, (_, id) => 12 * uniform(5, id) - 40);
    const { tokenId, logprobs } = sampleOne(row, { ...GREEDY, logprobs: 0 });
    const odds = row.reduce((sum, logit) => sum + Math.exp(logit - (row[tokenId] ?? 0)), 0);
    expect(odds * Math.exp(logprobs?.logprob ?? 0)).toBeCloseTo(1, 5);
  });
});

describe('a mask', () => {
  const sample = createSampler(LOGITS.length);
  const mask = emptyMask(LOGITS.length).fill(0xffff_ffff);
  for (const tokenId of [2, 5]) forbidToken(mask, tokenId);
  const tokenAt = (position: number, params: SamplingParams): number =>
    sample(LOGITS, { params, position, tokenCounts: NO_COUNTS, mask }).tokenId;

  it('keeps tokens from being the likeliest', () => {
    expect(tokenAt(6, GREEDY)).toBe(4);
    expect(sample(LOGITS, { params: GREEDY, position: 6, tokenCounts: NO_COUNTS }).tokenId).toBe(2);
  });

  it('keeps them from being drawn, whatever favors them', () => {
    const favored = { ...SAMPLED, temperature: 5, logitBias: { 2: 100, 5: 100 }, repetitionPenalty: 2 };
    for (const params of [SAMPLED, favored, { ...favored, topK: 3 }]) {
      const drawn = Array.from({ length: 200 }, (_, seed) => tokenAt(7, { ...params, seed }));
      expect(drawn).not.toContain(2);
      expect(drawn).not.toContain(5);
      expect(new Set(drawn).size).toBeGreaterThan(1);
    }
  });

  it('does not show in logprobs, which are those of the raw logits', () => {
    const params = { ...GREEDY, logprobs: 2 };
    const { logprobs } = sample(LOGITS, { params, position: 0, tokenCounts: NO_COUNTS, mask });
    expect(logprobs?.top.map(({ tokenId }) => tokenId)).toEqual([2, 5]);
  });

  it('of no token leaves none, and tokens behind its last word are none', () => {
    for (const [params, numMasked] of [
      [GREEDY, 3],
      [SAMPLED, 0],
    ] as const) {
      const none = emptyMask(numMasked);
      expect(() =>
        createSampler(3)(Float32Array.of(1, 2, 3), {
          params,
          position: 0,
          tokenCounts: NO_COUNTS,
          mask: none,
        }),
      ).toThrow('got -Infinity for every token');
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
    for (const params of [GREEDY, SAMPLED, { ...SAMPLED, logitBias: { 1: 5 } }]) {
      const context = { params, position: 0, tokenCounts: NO_COUNTS };
      expect(() => createSampler(3)(logits, context)).toThrow(new RangeError(message));
    }
  });
});
