interface Work {
  readonly numTokens: number;
  readonly stepMs: number;
}

const WINDOW_MS = 1000;

/** Output tokens per second over the last second of work. Idle time does not count, so a pause does not change the rate. */
export class TokenRate {
  readonly #window: Work[] = [];
  #numTokens = 0;
  #workMs = 0;

  record(work: Work): void {
    this.#window.push(work);
    this.#add(work, 1);
    for (let oldest = this.#window[0]; oldest && this.#isFullWithout(oldest); oldest = this.#window[0]) {
      this.#window.shift();
      this.#add(oldest, -1);
    }
  }

  get tokensPerSecond(): number {
    return this.#workMs > 0 ? (this.#numTokens / this.#workMs) * 1000 : 0;
  }

  #isFullWithout(oldest: Work): boolean {
    return this.#workMs - oldest.stepMs >= WINDOW_MS;
  }

  #add({ numTokens, stepMs }: Work, sign: 1 | -1): void {
    this.#numTokens += sign * numTokens;
    this.#workMs += sign * stepMs;
  }
}
