import { functionRefusal } from './refusals.ts';

export type Listener<Value> = (value: Value) => void;

/** The listeners of one topic. */
export class Listeners<Value> {
  readonly #listeners = new Set<Listener<Value>>();

  /**
   * @returns A function that removes it.
   * @throws InvalidOptionError.
   */
  add(listener: Listener<Value>): () => void {
    checkListener(listener);
    // Two places may add one function, and one of them remove it.
    const added = (value: Value): void => listener(value);
    this.#listeners.add(added);
    return () => this.#listeners.delete(added);
  }

  tell(value: Value): void {
    for (const listener of this.#listeners) tellOne(listener, value);
  }
}

/** An error of one listener reaches the console, but neither the other listeners nor the caller. */
export function tellOne<Value>(listener: Listener<Value>, value: Value): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** @throws InvalidOptionError. */
export function checkListener(listener: unknown): void {
  const refusal = functionRefusal('listener', listener);
  if (refusal) throw refusal;
}
