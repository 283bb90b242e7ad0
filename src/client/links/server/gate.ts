/** Lets so many tasks run at the same time. The others wait, in order; those in the background behind all others. */
export class Gate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  readonly #inBackground: (() => void)[] = [];
  #numRunning = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<Result>(task: () => Promise<Result>, isBackground = false): Promise<Result> {
    const waiting = isBackground ? this.#inBackground : this.#waiting;
    if (this.#numRunning < this.#limit) this.#numRunning += 1;
    // Whoever ends passes its place on.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift() ?? this.#inBackground.shift();
      if (next) next();
      else this.#numRunning -= 1;
    }
  }
}

/**
 * How many texts a server at this address is asked for at the same time. A browser opens at most six connections to a host without TLS, for all
 * of its tabs, and some have to be left for files of the page.
 *
 * @internal
 */
export function connectionsTo(url: string): number {
  return 'document' in globalThis && url.startsWith('http:') ? 4 : Infinity;
}
