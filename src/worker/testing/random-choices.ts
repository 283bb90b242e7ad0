import { uniform } from '../../batching/sampling/random.ts';

/** Choices that are the same for the same seed. */
export class RandomChoices {
  readonly #random: () => number;

  /** @param random Numbers from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  is(share: number): boolean {
    return this.#random() < share;
  }

  /** An integer from `from` to `to`, both included. */
  integer(from: number, to: number): number {
    return from + Math.floor((to - from + 1) * this.#random());
  }

  one<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(values.length * this.#random())];
    if (value === undefined) throw new Error('Expected at least one value.');
    return value;
  }

  /** As many as `count`, each made anew. */
  many<Value>(count: number, make: () => Value): readonly Value[] {
    return Array.from({ length: count }, make);
  }
}

/** Random numbers from 0 to below 1, the same for the same seed. */
export function createRandom(seed: number): () => number {
  let position = 0;
  return () => uniform(seed, position++);
}
