import { Undefined, type Value } from './values.ts';

/** Variables by name, and those around them. */
export class Scope {
  readonly #variables: Map<string, Value>;
  readonly #outer: Scope | undefined;

  constructor(variables: ReadonlyMap<string, Value> = new Map(), outer?: Scope) {
    this.#variables = new Map(variables);
    this.#outer = outer;
  }

  inner(): Scope {
    return new Scope(undefined, this);
  }

  get(name: string): Value {
    const value = this.#variables.get(name);
    if (value !== undefined) return value;
    return this.#outer ? this.#outer.get(name) : Undefined.named(name);
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}
