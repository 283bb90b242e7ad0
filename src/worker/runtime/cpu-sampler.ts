import { isAdjusting } from '../../batching/sampling/adjust-logits.ts';
import { createSampler, type SampledToken } from '../../batching/sampling/sampling.ts';
import type { TokenMask } from '../../batching/sampling/token-mask.ts';
import type { StepRow } from '../../batching/generation/model-runner.ts';
import type { SampleOutput } from './model-backend.ts';

/** The logits [vocabSize] of a pass, in the order of `ModelBackend.readLogits`. */
type LogitsAt = (index: number) => Float32Array;

/** Samples the rows of one pass on the CPU; logits without a next token fail their own row and no other. */
export function createCpuSampler(vocabSize: number) {
  const sampleToken = createSampler(vocabSize);

  const sampleRow = (row: StepRow, logitsAt: LogitsAt) => {
    const { sampling: params, startPosition, tokenIds, guessedTokenIds = [], guessedMasks = [] } = row;
    // Only penalties read them. The tokens of this step count for those behind them.
    const counts = guessedTokenIds.length > 0 && isAdjusting(params) ? new Map(row.tokenCounts) : undefined;
    const tokenCounts = counts ?? row.tokenCounts;
    const sampleAt = (index: number, mask: TokenMask | undefined): SampledToken | Error => {
      const position = startPosition + tokenIds.length + index;
      try {
        return sampleToken(logitsAt(index), { params, position, tokenCounts, mask });
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    };
    const sample = sampleAt(0, row.mask);
    const further: SampledToken[] = [];
    let newest = sample;
    for (const [index, guess] of guessedTokenIds.entries()) {
      if (newest instanceof Error || newest.tokenId !== guess) break;
      counts?.set(guess, (counts.get(guess) ?? 0) + 1);
      newest = sampleAt(index + 1, guessedMasks[index]);
      // An error is found again by the step that begins here.
      if (!(newest instanceof Error)) further.push(newest);
    }
    return { sample, further };
  };

  return (logitsAt: LogitsAt, rows: readonly StepRow[]): Omit<SampleOutput, 'readbackMs'> => {
    let numScored = rows.length;
    const sampled = rows.map((row, index) => {
      const firstScored = numScored;
      const numGuesses = row.guessedTokenIds?.length ?? 0;
      numScored += numGuesses;
      return sampleRow(row, (token) => logitsAt(token < numGuesses ? firstScored + token : index));
    });
    return {
      samples: sampled.map(({ sample }) => sample),
      ...(numScored > rows.length && { furtherTokens: sampled.map(({ further }) => further) }),
    };
  };
}
