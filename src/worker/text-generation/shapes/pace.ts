import { inPieces } from '../../../platform/in-pieces.ts';

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

/** Runs work in pieces of some milliseconds, each of which waits for a piece of what else waits: a large shape holds up no small one. */
export async function inTurns<Result>(work: Work<Result>): Promise<Result> {
  const pieces = paced(work);
  for (;;) {
    const piece = await inPieces(nextOf(pieces));
    if (piece.done) return piece.value;
  }
}

// oxlint-disable-next-line require-yield -- a turn is one piece
function* nextOf<Result>(pieces: Work<Result>): Work<IteratorResult<void, Result>> {
  return pieces.next();
}
