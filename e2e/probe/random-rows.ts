import type { TokenCounts } from '../../src/batching/sampling/adjust-logits.ts';
import type { SamplingParams } from '../../src/batching/options/sampling-options.ts';
import {
  allowToken,
  emptyMask,
  forbidToken,
  type TokenMask,
} from '../../src/batching/sampling/token-mask.ts';

export interface RandomRow {
  readonly logits: Float32Array;
  readonly params: SamplingParams;
  readonly position: number;
  readonly tokenCounts: TokenCounts;
  readonly mask?: TokenMask;
}

/** A row with any of the shapes that logits have, and any of the options, each off as often as on. */
export function randomRow(vocabSize: number, random: () => number): RandomRow {
  const below = (limit: number): number => Math.floor(limit * random());
  const oneOf = <Value>(...values: readonly [Value, ...(readonly Value[])]): Value =>
    values[below(values.length)] ?? values[0];
  const token = (): number => below(vocabSize);

  function logits(): Float32Array {
    const [offset, scale] = [oneOf(0, 0, -30, -110, 7), oneOf(0.1, 1, 3, 8)];
    // Rounded logits have many ties; 0 leaves them as they are.
    const grid = oneOf(0, 0, 0, 0.25, 2);
    const values = Float32Array.from({ length: vocabSize }, () => {
      const logit = offset + scale * (random() + random() + random() + random() - 2) * 1.7;
      return grid === 0 ? logit : grid * Math.round(logit / grid);
    });
    const numMasked = oneOf(0, 0, 1, Math.floor(vocabSize / 3), 4 * vocabSize);
    for (let count = 0; count < numMasked; count += 1) values[token()] = -Infinity;
    // Raise one token clearly, as a trained model mostly does. If all are masked without it, the row fails.
    if (random() < 0.95) values[token()] = offset + scale * oneOf(0, 2, 6);
    if (random() < 0.03) values[token()] = oneOf(Number.NaN, Infinity);
    return values;
  }

  /** All tokens but a few, or a few tokens alone. */
  function mask(): TokenMask {
    const tokens = emptyMask(vocabSize);
    const isBan = random() < 0.5;
    if (isBan) tokens.fill(0xffff_ffff);
    for (const id of Array.from({ length: 1 + below(oneOf(2, 20, vocabSize / 2)) }, token))
      (isBan ? forbidToken : allowToken)(tokens, id);
    return tokens;
  }

  const bias = Array.from({ length: 1 + below(300) }, () => [token(), 200 * random() - 100] as const);
  return {
    logits: logits(),
    params: {
      temperature: oneOf(0, 1, 0.8, 0.01 + 2 * random(), 10 * random()),
      topK: oneOf(0, 0, 1, 40, 1 + token(), vocabSize),
      topP: oneOf(1, 1, 0.95, 1 - random(), 1e-6),
      minP: oneOf(0, 0, 0.05, random(), 1),
      repetitionPenalty: oneOf(1, 1, 1.1, 0.5 + random()),
      presencePenalty: oneOf(0, 0, 4 * random() - 2),
      frequencyPenalty: oneOf(0, 0, 4 * random() - 2),
      logitBias: oneOf<Record<string, number>>({}, {}, Object.fromEntries(bias)),
      logprobs: oneOf<number | undefined>(undefined, undefined, undefined, 0, 5, 20),
      seed: below(2 ** 32),
    },
    position: below(1023),
    tokenCounts: new Map(Array.from({ length: below(200) }, () => [token(), Math.max(0, below(5) - 1)])),
    ...oneOf<{ readonly mask?: TokenMask }>({}, {}, { mask: mask() }),
  };
}
