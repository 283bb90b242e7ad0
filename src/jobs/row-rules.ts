import { EMBEDDER } from '../protocol/embedding.ts';
import type { BatchingPolicy } from '../protocol/status.ts';

// What holds for each row, wherever it runs: in the page, by `run-batch` and by `/v1/batches`.

/** The first row's seed in a batch file. It is fixed, so that a file has the same texts wherever it runs. */
export const SEED_OF_FILE = 0;

/**
 * The seed of a row whose request names none: the same whenever it runs.
 *
 * @param first The first row's.
 */
export function seedOfRow(first: number, index: number): number {
  return (first + index) % 2 ** 32;
}

/**
 * Rows to ask a server for together, whose slots aren't known. vLLM's default is to run more than this.
 *
 * @internal
 */
export const ROWS_AT_SERVER = 64;

/** Texts to embed together. */
const NUM_TEXTS = 64;

/** Rows to keep running and waiting together: as many wait as run, so that no slot is ever free. */
export function numRowsFor(
  deployment: string,
  { policy, maxBatchSize }: Pick<BatchingPolicy, 'policy' | 'maxBatchSize'>,
): number {
  if (deployment === EMBEDDER) return 2 * NUM_TEXTS;
  return policy === 'off' ? 2 : 2 * maxBatchSize;
}
