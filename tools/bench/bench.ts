/** A benchmark of `npm run bench -- NAME`. */
export interface Bench {
  /** A line for each option; empty if it has none. */
  readonly usage: string;
  /**
   * Reads the command line.
   *
   * @returns The function that measures.
   * @throws Error if an argument is wrong.
   */
  prepare(args: readonly string[]): () => Promise<void>;
}

/** Makes a benchmark of `run`, which gets the options that `parse` reads. */
export function defineBench<Options>(
  usage: string,
  parse: (args: readonly string[]) => Options,
  run: (options: Options) => Promise<void>,
): Bench {
  return {
    usage,
    prepare(args) {
      const options = parse(args);
      return () => run(options);
    },
  };
}
