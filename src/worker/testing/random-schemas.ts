import type { JsonSchema } from '../../batching/options/response-format.ts';
import type { JsonRecord } from '../../batching/base/validate-compound.ts';
import { createRandom, RandomChoices } from './random-choices.ts';

const NAMES = ['name', 'age', 'favoriteColor', 'is a friend', 'längstes', 'x'];
const PATTERNS = ['^[a-c]{2,4}$', '[0-9]+-[a-z]*', '^(yes|no|maybe \\d)$'];
const VALUES = ['red', 'dark "blue"', 12, -3.5, null, true, { a: [1, 'b'] }, [], 'ä\n'];

/** Names that JSON escapes, that JavaScript reorders, and that are special to it. */
const ODD_NAMES = ['a "b"', String.raw`C:\dir`, 'two\nlines', '10', '9', 'constructor', '', '\u{1F600}'];

/** Their values have quotes, backslashes, controls and characters of several bytes. */
const ODD_PATTERNS = [
  '^[^,]{1,4}$',
  '^[^@ ]+@[^@ ]+$',
  String.raw`^\W{1,3}$`,
  String.raw`^\D?\S\s$`,
  '^[ -~]*$',
  String.raw`^a(\n|\t)b$`,
  String.raw`^[A-Z]:\\\w+$`,
  '^[^a-z]{1,3}$',
  '^.{2,5}$',
  '^prefix-',
  String.raw`\.png$`,
  '[äöü]',
];

const FORMATS = ['date-time', 'date', 'time', 'uuid', 'email', 'uri', 'ipv4', 'ipv6', 'hostname', 'duration'];

/** A schema of all kinds that are enforced. Its `$defs` has a node that may hold itself. */
export function randomSchema(seed: number): JsonSchema {
  return schemaBy(new SchemaMaker(new RandomChoices(createRandom(seed))));
}

/** As `randomSchema`, and with what libraries of types write: formats, multiples, unique items, names by a schema and odd patterns. */
export function randomWideSchema(seed: number): JsonSchema {
  return schemaBy(new WideSchemaMaker(new RandomChoices(createRandom(seed))));
}

function schemaBy(maker: SchemaMaker): JsonSchema {
  return { ...maker.object(3), $defs: { node: { ...maker.object(1), description: 'a node' } } };
}

class SchemaMaker {
  protected readonly choices: RandomChoices;
  protected readonly names: readonly string[] = NAMES;

  constructor(choices: RandomChoices) {
    this.choices = choices;
  }

  object(depth: number): JsonRecord {
    const { choices } = this;
    const names = this.names.filter(() => choices.is(0.4));
    return {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, this.any(depth - 1)])),
      required: names.filter(() => choices.is(0.6)),
      ...(choices.is(0.5) && { additionalProperties: choices.is(0.5) ? false : this.any(0) }),
    };
  }

  protected any(depth: number): JsonRecord {
    const leaves = this.leaves();
    const branches = this.branches(depth);
    return this.choices.one(depth > 0 ? [...leaves, ...branches, ...branches] : leaves)();
  }

  protected leaves(): readonly (() => JsonRecord)[] {
    const { choices } = this;
    return [
      () => this.bounded('integer', 1),
      () => this.bounded('number', 100),
      () => ({ type: 'string' }),
      () => ({ type: 'string', ...this.counts('minLength', 'maxLength') }),
      () => ({ type: 'string', pattern: choices.one(PATTERNS) }),
      () => ({ type: 'boolean' }),
      () => ({ type: ['string', 'null'] }),
      () => ({ const: choices.one(VALUES) }),
      () => ({ enum: [...new Set(choices.many(3, () => choices.one(VALUES)))] }),
    ];
  }

  protected branches(depth: number): readonly (() => JsonRecord)[] {
    return [
      () => this.object(depth),
      () => ({ type: 'array', items: this.any(depth - 1), ...this.counts('minItems', 'maxItems') }),
      () => ({ type: 'array', prefixItems: [this.any(0), this.any(0)], items: this.any(0) }),
      () => ({ anyOf: [this.any(depth - 1), this.any(depth - 1)] }),
      () => ({ oneOf: [{ type: 'integer' }, { type: 'object' }, { type: 'null' }] }),
      () => ({ anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] }),
    ];
  }

  /** Bounds are multiples of 1 / `unit`. */
  protected bounded(type: 'integer' | 'number', unit: number): JsonRecord {
    const { choices } = this;
    const from = choices.integer(-200, 199);
    const to = from + 2 + choices.integer(0, 299);
    return {
      type,
      ...(choices.is(0.5) && { [choices.is(0.7) ? 'minimum' : 'exclusiveMinimum']: from / unit }),
      ...(choices.is(0.5) && { [choices.is(0.7) ? 'maximum' : 'exclusiveMaximum']: to / unit }),
    };
  }

  protected counts(least: string, most: string): JsonRecord {
    const { choices } = this;
    const from = choices.integer(0, 2);
    return {
      ...(choices.is(0.6) && { [least]: from }),
      ...(choices.is(0.7) && { [most]: from + choices.integer(0, 4) }),
    };
  }
}

class WideSchemaMaker extends SchemaMaker {
  protected override readonly names = [...NAMES, ...ODD_NAMES];

  protected override leaves(): readonly (() => JsonRecord)[] {
    const { choices } = this;
    return [
      ...super.leaves(),
      () => ({ type: 'string', format: choices.one(FORMATS) }),
      () => ({ type: ['string', 'null'], format: choices.one(FORMATS) }),
      () => ({ type: 'string', pattern: choices.one(ODD_PATTERNS) }),
      () => ({ type: 'string', pattern: choices.one(ODD_PATTERNS), maxLength: 40 }),
      () => ({ type: 'integer', multipleOf: choices.one([2, 5, 7, 12, 100]) }),
      () => ({ type: 'number', multipleOf: choices.one([0.01, 0.25, 0.5, 3]), minimum: 0 }),
    ];
  }

  protected override branches(depth: number): readonly (() => JsonRecord)[] {
    const { choices } = this;
    const keys = { pattern: choices.one(['^[a-z]{1,8}$', '^[^"]{1,4}$']) };
    return [
      ...super.branches(depth),
      () => ({ type: 'object', propertyNames: keys, additionalProperties: this.any(depth - 1) }),
      () => ({ type: 'object', propertyNames: { enum: ODD_NAMES }, additionalProperties: this.any(0) }),
      () => ({ type: 'array', items: [this.any(0), this.any(0)], additionalItems: false }),
      () => ({ type: 'array', items: { enum: ['a', 'b', 'c', 'd'] }, uniqueItems: true, maxItems: 4 }),
      () => ({ anyOf: this.#tagged(depth), discriminator: { propertyName: 'kind' } }),
      () => ({ oneOf: this.#tagged(depth) }),
    ];
  }

  /** Objects that their `kind` tells apart. */
  #tagged(depth: number): readonly JsonRecord[] {
    return ['cat', 'a "dog"'].map((kind) => ({
      type: 'object',
      properties: { kind: { const: kind, type: 'string' }, value: this.any(depth - 1) },
      required: ['kind', 'value'],
      additionalProperties: false,
    }));
  }
}
