/** Lets so many tasks run at the same time. The others wait, in order. */
export class Gate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #numRunning = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run(task: () => Promise<void>): Promise<void> {
    if (this.#numRunning < this.#limit) this.#numRunning += 1;
    // Whoever ends passes its place on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#numRunning -= 1;
    }
  }
}
