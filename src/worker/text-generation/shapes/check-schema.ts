import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import type { JsonSchema } from '../../../batching/generation/response-format.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { checkPattern } from './check-pattern.ts';
import { KEYWORDS, NUMBER_KEYWORDS, TYPES, typesOf, type TypeName } from './json-types.ts';
import { isFractionBound, rangeOf } from './lower-schema.ts';

// The grammar library drops the keywords that it can't enforce. This check knows what it enforces, and refuses the rest by name.

type Fields = Readonly<Record<string, unknown>>;

/** They describe, and restrict nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

/** Each of these decides alone: the library ignores what stands beside it. */
const COMBINERS = ['$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf'];

/** A count of items makes as many states of the grammar. */
const MAX_ITEMS = 1000;

/** Refuses a schema that can't be enforced as a whole. @throws ResponseFormatUnsupportedError naming the part. */
export function checkSchema(schema: JsonSchema, param: string): void {
  new SchemaCheck(schema, param).check(schema, param);
}

class SchemaCheck {
  readonly #root: JsonSchema;
  readonly #rootParam: string;
  /** Schemas that references lead to, which may be recursive. */
  readonly #seen = new Set<unknown>();

  constructor(root: JsonSchema, rootParam: string) {
    this.#root = root;
    this.#rootParam = rootParam;
  }

  check(schema: unknown, param: string): void {
    if (schema === true) return;
    if (schema === false) throw refusal(param, 'allows no value', 'leave it out');
    if (!isRecord(schema)) throw refusal(param, 'is no JSON Schema', 'write an object');
    const keywords = Object.keys(schema).filter(
      (name) => schema[name] !== undefined && !ANNOTATIONS.has(name),
    );
    const combiner = COMBINERS.find((name) => keywords.includes(name));
    if (combiner === undefined) this.#checkTypes(schema, keywords, param);
    else this.#checkCombiner(schema, combiner, keywords, param);
  }

  #checkCombiner(schema: Fields, combiner: string, keywords: readonly string[], param: string): void {
    const isValue = combiner === 'const' || combiner === 'enum';
    const other = keywords.find((name) => name !== combiner && !(isValue && name === 'type'));
    if (other !== undefined)
      throw refusal(`${param}.${other}`, `can't be enforced beside ${combiner}`, 'move it into each branch');
    const value = schema[combiner];
    const own = `${param}.${combiner}`;
    if (combiner === '$ref') {
      this.#checkReference(value, own);
    } else if (isValue) {
      const values = combiner === 'const' ? [value] : value;
      if (!Array.isArray(values) || values.length === 0)
        throw refusal(own, 'lists no value', 'list at least one');
      if (schema['type'] === undefined) return;
      const types = typesIn(schema, param);
      if (!values.every((entry) => types.some((type) => isOfType(entry, type))))
        throw refusal(own, 'has values of another type', 'leave out the type');
    } else this.#checkBranches(value, combiner, own);
  }

  #checkBranches(branches: unknown, combiner: string, param: string): void {
    if (!Array.isArray(branches) || branches.length === 0)
      throw refusal(param, 'lists no schema', 'list at least one');
    if (combiner === 'allOf' && branches.length > 1)
      throw refusal(param, "can't be enforced for more than one schema", 'merge them into one');
    for (const [index, branch] of branches.entries()) this.check(branch, `${param}[${index}]`);
    if (combiner === 'oneOf' && !areExclusive(branches.map((branch) => this.#resolve(branch))))
      throw refusal(
        param,
        "can't be enforced for schemas that may accept the same value",
        'use anyOf, or give each a different type or a required property with a different const',
      );
  }

  #checkReference(reference: unknown, param: string): void {
    const target = this.#targetOf(reference);
    if (target === undefined)
      throw refusal(
        param,
        `leads to no part of the schema (${String(reference)})`,
        'use #, #/$defs/… or #/definitions/…',
      );
    if (this.#seen.has(target)) return;
    this.#seen.add(target);
    this.check(target, `${this.#rootParam}${String(reference).slice(1).replaceAll('/', '.')}`);
  }

  #targetOf(reference: unknown): unknown {
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
    let target: unknown = this.#root;
    for (const step of reference.split('/').slice(1)) {
      // The library doesn't unescape, so only plain names mean the same to both.
      if (/[~%]/.test(step) || !isRecord(target) || !Object.hasOwn(target, step)) return undefined;
      target = target[step];
    }
    return target;
  }

  #resolve(schema: unknown): unknown {
    const reference = isRecord(schema) ? schema['$ref'] : undefined;
    return reference === undefined ? schema : this.#targetOf(reference);
  }

  #checkTypes(schema: Fields, keywords: readonly string[], param: string): void {
    const types = typesIn(schema, param);
    const allowed = types.flatMap((type) => KEYWORDS[type]);
    const foreign = keywords.find((name) => name !== 'type' && !allowed.includes(name));
    if (foreign !== undefined) {
      const isKnown = Object.values(KEYWORDS).some((names) => names.includes(foreign));
      throw isKnown
        ? refusal(
            `${param}.${foreign}`,
            "can't be enforced without its type",
            `name the type beside ${foreign}`,
          )
        : refusal(`${param}.${foreign}`, "can't be enforced", 'leave it out, and check the answer yourself');
    }
    if (types.includes('object')) this.#checkObject(schema, param);
    if (types.includes('array')) this.#checkArray(schema, param);
    if (types.includes('string')) checkString(schema, param);
    if (types.includes('integer') || types.includes('number')) checkRange(schema, types, param);
  }

  #checkObject({ properties = {}, required = [], additionalProperties }: Fields, param: string): void {
    if (!isRecord(properties))
      throw refusal(`${param}.properties`, 'is no record of schemas', 'write an object');
    // The library writes them into its grammar as they are.
    const strange = Object.keys(properties).find((name) => /["\\\p{Cc}]/u.test(name));
    if (strange !== undefined)
      throw refusal(
        `${param}.properties.${strange}`,
        'has a quote, a backslash or a control character',
        'rename it',
      );
    for (const [name, schema] of Object.entries(properties))
      this.check(schema, `${param}.properties.${name}`);
    if (!Array.isArray(required)) throw refusal(`${param}.required`, 'is no list of names', 'write a list');
    const unknown = required.find((name) => !Object.hasOwn(properties, String(name)));
    if (unknown !== undefined)
      throw refusal(
        `${param}.required`,
        `names ${String(unknown)}, which properties lack`,
        'add it to properties',
      );
    if (additionalProperties !== undefined && additionalProperties !== false)
      this.check(additionalProperties, `${param}.additionalProperties`);
  }

  #checkArray(schema: Fields, param: string): void {
    const { items, prefixItems = [] } = schema;
    if (items !== undefined && items !== false) this.check(items, `${param}.items`);
    if (!Array.isArray(prefixItems))
      throw refusal(`${param}.prefixItems`, 'is no list of schemas', 'write a list');
    for (const [index, item] of prefixItems.entries()) this.check(item, `${param}.prefixItems[${index}]`);
    const { from, to } = countsOf(schema, 'minItems', 'maxItems', MAX_ITEMS, param);
    if (prefixItems.length > 0 && (from > prefixItems.length || (to ?? Infinity) < prefixItems.length))
      throw refusal(
        `${param}.prefixItems`,
        "can't be enforced beside these counts",
        'leave out minItems and maxItems',
      );
  }
}

function checkString(schema: Fields, param: string): void {
  const { pattern } = schema;
  countsOf(schema, 'minLength', 'maxLength', Infinity, param);
  if (pattern === undefined) return;
  if (schema['minLength'] !== undefined || schema['maxLength'] !== undefined)
    throw refusal(
      `${param}.pattern`,
      "can't be enforced beside minLength or maxLength",
      'count in the pattern',
    );
  checkPattern(pattern, `${param}.pattern`);
}

function checkRange(schema: Fields, types: readonly TypeName[], param: string): void {
  const isFraction = types.includes('number');
  for (const name of NUMBER_KEYWORDS)
    if (schema[name] !== undefined && !(isFraction ? isFractionBound : Number.isSafeInteger)(schema[name]))
      throw refusal(
        `${param}.${name}`,
        isFraction ? 'is no number of at most 9 digits and 6 decimals' : 'is no integer',
        'use fewer digits',
      );
  const { from, to } = rangeOf(schema);
  if (from > to) throw refusal(param, 'allows no number', 'raise the maximum, or lower the minimum');
}

/** The bounds of a count. An upper bound of undefined is none. */
function countsOf(schema: Fields, least: string, most: string, largest: number, param: string) {
  const [from = 0, to] = [least, most].map((name) => {
    const count = schema[name];
    if (count === undefined) return undefined;
    const place = `${param}.${name}`;
    if (!Number.isSafeInteger(count) || Number(count) < 0)
      throw refusal(place, 'is no count', 'write an integer from 0 on, or leave it out');
    if (Number(count) > largest)
      throw refusal(place, `is above ${largest}`, 'write a smaller count, or leave it out');
    return Number(count);
  });
  if (to !== undefined && from > to) throw refusal(`${param}.${most}`, `is below ${least}`, 'raise it');
  return { from, to };
}

function typesIn(schema: Fields, param: string): readonly TypeName[] {
  const types = typesOf(schema).map((name) => TYPES.find((known) => known === name));
  const isKnown = schema['type'] === undefined || types.length > 0;
  if (isKnown && types.every((name) => name !== undefined)) return types;
  throw refusal(`${param}.type`, 'is no type of JSON', `use ${TYPES.join(', ')}`);
}

function isOfType(value: unknown, type: TypeName): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return typeNameOf(value) === type;
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Whether no value fits two of these schemas, as far as that shows in their types or in a required constant. */
function areExclusive(schemas: readonly unknown[]): boolean {
  const records = schemas.filter(isRecord);
  if (records.length < schemas.length) return false;
  const listed = records.map(valuesOf);
  if (listed.every((list) => list !== undefined)) return areDisjoint(listed);
  const types = records.map(({ type }) =>
    [type].flat().map((name) => (name === 'integer' ? 'number' : String(name))),
  );
  if (areDisjoint(types) && !types.flat().includes('undefined')) return true;
  const [first] = records;
  const names = isRecord(first?.['properties']) ? Object.keys(first['properties']) : [];
  return names.some((name) => {
    const constants = records.map(({ properties, required }) => {
      const property = isRecord(properties) ? properties[name] : undefined;
      const isRequired = Array.isArray(required) && required.includes(name);
      return isRequired && isRecord(property) ? valuesOf(property) : undefined;
    });
    return constants.every((values) => values !== undefined) && areDisjoint(constants);
  });
}

/** The values of a const or an enum, as JSON. */
function valuesOf(schema: Fields): readonly string[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined;
}

function areDisjoint(lists: readonly (readonly string[])[]): boolean {
  return new Set(lists.flat()).size === lists.reduce((sum, list) => sum + list.length, 0);
}

function refusal(param: string, reason: string, remedy: string): ResponseFormatUnsupportedError {
  return ResponseFormatUnsupportedError.of(param, reason, remedy);
}
