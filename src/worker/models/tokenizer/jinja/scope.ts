import { Undefined, type Value } from './values.ts';

/** Variables by name, and those around them. */
export class Scope {
  readonly #variables: Map<string, Value>;
  readonly #outer: Scope | undefined;

  constructor(variables: Map<string, Value>, outer?: Scope) {
    this.#variables = variables;
    this.#outer = outer;
  }

  inner(): Scope {
    return new Scope(new Map(), this);
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
