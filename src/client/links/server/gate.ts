/** Lets so many tasks run at the same time. The others wait, in order; those in the background behind all others. */
export class Gate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  readonly #inBackground: (() => void)[] = [];
  #numRunning = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run(task: () => Promise<void>, isBackground = false): Promise<void> {
    const waiting = isBackground ? this.#inBackground : this.#waiting;
    if (this.#numRunning < this.#limit) this.#numRunning += 1;
    // Whoever ends passes its place on.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await task();
    } finally {
      const next = this.#waiting.shift() ?? this.#inBackground.shift();
      if (next) next();
      else this.#numRunning -= 1;
    }
  }
}
