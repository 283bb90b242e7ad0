import { yieldToHost } from './yield-to-host.ts';
import { createMutex } from './mutex.ts';

/** One at a time in this worker: otherwise other tasks would wait for a piece of each. */
const turns = createMutex();

/**
 * Runs the rest of a work that yields between its pieces, and lets the host's other tasks run before each piece.
 *
 * @throws What the work throws.
 */
export function inPieces<Result>(work: Generator<void, Result>, pause = yieldToHost): Promise<Result> {
  return turns.run(async () => {
    for (;;) {
      await pause();
      const piece = work.next();
      if (piece.done) return piece.value;
    }
  });
}
