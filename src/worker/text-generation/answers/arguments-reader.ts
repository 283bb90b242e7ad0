/** Takes a call's arguments apart from the text that follows. Cutting the text anywhere gives the same arguments. */
export interface ArgumentsReader {
  /** The next piece of the arguments, in JSON; and the text behind them, once they are over. */
  push(text: string): { readonly json: string; readonly rest?: string };
}

/**
 * A reader's result for the text that it holds.
 *
 * @param read The next piece of JSON; undefined until more text comes.
 * @param rest The text behind the arguments; undefined until they are over.
 */
export function readPieces(
  read: () => string | undefined,
  rest: () => string | undefined,
): ReturnType<ArgumentsReader['push']> {
  let json = '';
  for (;;) {
    const piece = read();
    if (piece === undefined) return { json };
    json += piece;
    const behind = rest();
    if (behind !== undefined) return { json, rest: behind };
  }
}
