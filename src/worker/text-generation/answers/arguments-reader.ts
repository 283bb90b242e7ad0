/** Takes a call's arguments apart from the text that follows. Cutting the text anywhere gives the same arguments. */
export interface ArgumentsReader {
  /** The next piece of the arguments, in JSON; and the text behind them, once they are over. */
  push(text: string): { readonly json: string; readonly rest?: string };
}
