/** How long the worker does nothing else. */
const PIECE_MS = 8;

/** Work that yields after each small part of it, which takes far less than `PIECE_MS`. */
export type Work<Result> = Generator<void, Result>;

/** Joins the parts of work: yields once they have taken some milliseconds. */
export function* paced<Result>(work: Work<Result>, pieceMs = PIECE_MS): Generator<void, Result> {
  let startedAtMs = performance.now();
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
    if (performance.now() - startedAtMs < pieceMs) continue;
    yield;
    startedAtMs = performance.now();
  }
}
