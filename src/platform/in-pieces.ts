import { yieldToHost } from './yield-to-host.ts';
import { createMutex } from './mutex.ts';

/** Without a pause. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const piece = work.next();
    if (piece.done) return piece.value;
  }
}

/** One computation at a time: otherwise other tasks would wait for a piece of each. */
const mutex = createMutex();

/**
 * Runs the rest of a computation that yields between its pieces, and lets the host's other tasks run before each piece.
 *
 * @throws The errors of the computation.
 */
export function inPieces<Result>(work: Generator<void, Result>, pause = yieldToHost): Promise<Result> {
  return mutex.run(async () => {
    for (;;) {
      await pause();
      const piece = work.next();
      if (piece.done) return piece.value;
    }
  });
}
