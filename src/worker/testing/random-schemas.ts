import type { JsonSchema } from '../../batching/generation/response-format.ts';
import { uniform } from '../../batching/sampling/random.ts';
import type { JsonRecord } from '../../batching/validate.ts';

/** Random numbers from 0 to below 1, the same for the same seed. */
export function createRandom(seed: number): () => number {
  let position = 0;
  return () => uniform(seed, position++);
}

const NAMES = ['name', 'age', 'favoriteColor', 'is a friend', 'längstes', 'x'];
const PATTERNS = ['^[a-c]{2,4}$', '[0-9]+-[a-z]*', '^(yes|no|maybe \\d)$'];
const VALUES = ['red', 'dark "blue"', 12, -3.5, null, true, { a: [1, 'b'] }, [], 'ä\n'];

/** A schema of all kinds that are enforced. Its `$defs` has a node that may hold itself. */
export function randomSchema(seed: number): JsonSchema {
  const random = createRandom(seed);
  return {
    ...new SchemaMaker(random).object(3),
    $defs: { node: { ...new SchemaMaker(random).object(1), description: 'a node' } },
  };
}

class SchemaMaker {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  object(depth: number): JsonRecord {
    const names = NAMES.filter(() => this.#is(0.4));
    return {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, this.#any(depth - 1)])),
      required: names.filter(() => this.#is(0.6)),
      ...(this.#is(0.5) && { additionalProperties: this.#is(0.5) ? false : this.#any(0) }),
    };
  }

  #any(depth: number): JsonRecord {
    const leaves = [
      () => this.#bounded('integer', 1),
      () => this.#bounded('number', 100),
      () => ({ type: 'string' }),
      () => ({ type: 'string', ...this.#counts('minLength', 'maxLength') }),
      () => ({ type: 'string', pattern: this.#one(PATTERNS) }),
      () => ({ type: 'boolean' }),
      () => ({ type: ['string', 'null'] }),
      () => ({ const: this.#one(VALUES) }),
      () => ({ enum: [...new Set(Array.from({ length: 3 }, () => this.#one(VALUES)))] }),
    ];
    const branches = [
      () => this.object(depth),
      () => ({ type: 'array', items: this.#any(depth - 1), ...this.#counts('minItems', 'maxItems') }),
      () => ({ type: 'array', prefixItems: [this.#any(0), this.#any(0)], items: this.#any(0) }),
      () => ({ anyOf: [this.#any(depth - 1), this.#any(depth - 1)] }),
      () => ({ oneOf: [{ type: 'integer' }, { type: 'object' }, { type: 'null' }] }),
      () => ({ anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] }),
    ];
    return this.#one(depth > 0 ? [...leaves, ...branches, ...branches] : leaves)();
  }

  /** Bounds are multiples of 1 / `unit`. */
  #bounded(type: 'integer' | 'number', unit: number): JsonRecord {
    const from = Math.floor(400 * this.#random()) - 200;
    const to = from + 2 + Math.floor(300 * this.#random());
    return {
      type,
      ...(this.#is(0.5) && { [this.#is(0.7) ? 'minimum' : 'exclusiveMinimum']: from / unit }),
      ...(this.#is(0.5) && { [this.#is(0.7) ? 'maximum' : 'exclusiveMaximum']: to / unit }),
    };
  }

  #counts(least: string, most: string): JsonRecord {
    const from = Math.floor(3 * this.#random());
    return {
      ...(this.#is(0.6) && { [least]: from }),
      ...(this.#is(0.7) && { [most]: from + Math.floor(5 * this.#random()) }),
    };
  }

  #is(share: number): boolean {
    return this.#random() < share;
  }

  #one<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(values.length * this.#random())];
    if (value === undefined) throw new Error('Expected at least one value.');
    return value;
  }
}
