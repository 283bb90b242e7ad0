import type { TokenCounts } from '../../src/batching/sampling/adjust-logits.ts';
import type { SamplingParams } from '../../src/batching/sampling/sampling-options.ts';
import {
  allowToken,
  emptyMask,
  forbidToken,
  type TokenMask,
} from '../../src/batching/sampling/token-mask.ts';

/** Random numbers for tests alone: the same from the same seed. */
export type Random = () => number;

export interface RandomRow {
  readonly logits: Float32Array;
  readonly params: SamplingParams;
  readonly position: number;
  readonly tokenCounts: TokenCounts;
  readonly mask?: TokenMask;
}

/** Marsaglia's xorshift32, in [0, 1). */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b9) | 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 8; round += 1) next();
  return next;
}

/** A row with any of the shapes that logits have, and any of the options, each off as often as on. */
export function randomRow(vocabSize: number, random: Random): RandomRow {
  return {
    logits: randomLogits(vocabSize, random),
    params: randomParams(vocabSize, random),
    position: pick(1023, random),
    ...oneOf(random, {}, {}, { mask: randomMask(vocabSize, random) }),
    tokenCounts: new Map(
      Array.from({ length: pick(200, random) }, () => [
        pick(vocabSize, random),
        Math.max(0, pick(5, random) - 1),
      ]),
    ),
  };
}

function randomLogits(vocabSize: number, random: Random): Float32Array {
  const [offset, scale] = [oneOf(random, 0, 0, -30, -110, 7), oneOf(random, 0.1, 1, 3, 8)];
  // Rounded logits have many ties; 0 leaves them as they are.
  const grid = oneOf(random, 0, 0, 0, 0.25, 2);
  const logits = Float32Array.from({ length: vocabSize }, () => {
    const logit = offset + scale * (random() + random() + random() + random() - 2) * 1.7;
    return grid === 0 ? logit : grid * Math.round(logit / grid);
  });
  const numMasked = oneOf(random, 0, 0, 1, Math.floor(vocabSize / 3), 4 * vocabSize);
  for (let count = 0; count < numMasked; count += 1) logits[pick(vocabSize, random)] = -Infinity;
  // Raise one token clearly, as a trained model mostly does. If all are masked without it, the row fails.
  if (random() < 0.95) logits[pick(vocabSize, random)] = offset + scale * oneOf(random, 0, 2, 6);
  if (random() < 0.03) logits[pick(vocabSize, random)] = oneOf(random, Number.NaN, Infinity);
  return logits;
}

function randomParams(vocabSize: number, random: Random): SamplingParams {
  return {
    temperature: oneOf(random, 0, 1, 0.8, 0.01 + 2 * random(), 10 * random()),
    topK: oneOf(random, 0, 0, 1, 40, 1 + pick(vocabSize, random), vocabSize),
    topP: oneOf(random, 1, 1, 0.95, 1 - random(), 1e-6),
    minP: oneOf(random, 0, 0, 0.05, random(), 1),
    repetitionPenalty: oneOf(random, 1, 1, 1.1, 0.5 + random()),
    presencePenalty: oneOf(random, 0, 0, 4 * random() - 2),
    frequencyPenalty: oneOf(random, 0, 0, 4 * random() - 2),
    logitBias: oneOf(random, {}, {}, randomBias(vocabSize, random)),
    logprobs: oneOf(random, undefined, undefined, undefined, 0, 5, 20),
    seed: pick(2 ** 32, random),
  };
}

function randomBias(vocabSize: number, random: Random): Record<string, number> {
  const entries = Array.from({ length: 1 + pick(300, random) }, () => [
    pick(vocabSize, random),
    200 * random() - 100,
  ]);
  return Object.fromEntries(entries);
}

/** All tokens but a few, or a few tokens alone. */
function randomMask(vocabSize: number, random: Random): TokenMask {
  const ids = Array.from({ length: 1 + pick(oneOf(random, 2, 20, vocabSize / 2), random) }, () =>
    pick(vocabSize, random),
  );
  const mask = emptyMask(vocabSize);
  const isBan = random() < 0.5;
  if (isBan) mask.fill(0xffff_ffff);
  for (const id of ids) (isBan ? forbidToken : allowToken)(mask, id);
  return mask;
}

/** An integer below the limit. */
function pick(limit: number, random: Random): number {
  return Math.floor(limit * random());
}

function oneOf<Value>(random: Random, ...values: readonly Value[]): Value {
  const value = values[pick(values.length, random)];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the index is within the list
  return value as Value;
}
