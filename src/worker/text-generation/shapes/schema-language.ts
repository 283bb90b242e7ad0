import type { JsonSchema } from '../../../batching/options/response-format.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { areExclusive, valuesOf } from './exclusive-schemas.ts';
import { choiceOf, endlessRuleOf, type Expression, type Rule } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import { checkDepth } from './limits.ts';
import type { Work } from './pace.ts';
import { arrayLanguage } from './schema-array.ts';
import { numberLanguage } from './schema-number.ts';
import { refusal, type Fields, type ValueOf } from './schema-parts.ts';
import { objectLanguage } from './schema-object.ts';
import { stringLanguage } from './schema-string.ts';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type TypeName = (typeof TYPES)[number];

const NUMBER_KEYWORDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'format',
];

/** The keywords that are enforced, by the type that they restrict. */
const KEYWORDS: { readonly [Type in TypeName]: readonly string[] } = {
  object: ['properties', 'required', 'additionalProperties', 'propertyNames', 'patternProperties'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: NUMBER_KEYWORDS,
  integer: NUMBER_KEYWORDS,
  boolean: [],
  null: [],
};

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
  'discriminator',
  // As both validators take them.
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

const BRANCHES = ['anyOf', 'oneOf', 'allOf'];

/** Each of these decides alone. */
const COMBINERS = ['$ref', 'const', 'enum', ...BRANCHES];

/** References may lead to the same schemas over and over again. */
const MAX_SCHEMAS_OF_NAMES = 1000;

/**
 * The JSON that a schema accepts, as one of its values may be written.
 *
 * @throws ResponseFormatUnsupportedError naming what can't be enforced.
 */
export function schemaLanguage(schema: JsonSchema, param: string, json: JsonLanguage): Work<Expression> {
  return new SchemaCompiler(schema, param, json).compile();
}

class SchemaCompiler {
  readonly #root: JsonSchema;
  readonly #rootParam: string;
  readonly #json: JsonLanguage;
  /** Languages of the schemas that references lead to, which may be recursive. */
  readonly #rules = new Map<unknown, Rule>();
  #depth = 0;

  constructor(root: JsonSchema, rootParam: string, json: JsonLanguage) {
    this.#root = root;
    this.#rootParam = rootParam;
    this.#json = json;
  }

  *compile(): Work<Expression> {
    const root = this.#json.make.rule(this.#rootParam);
    this.#rules.set(this.#root, root);
    // A map's loop comes to what is added meanwhile.
    for (const [schema, rule] of this.#rules) {
      rule.body = yield* this.#valueOf(schema, rule.name);
    }
    const endless = yield* endlessRuleOf(root);
    if (endless)
      throw refusal(endless.name, 'has a part that can never end', 'give each recursion a way out');
    return root;
  }

  *#valueOf(schema: unknown, param: string): Work<Expression> {
    checkDepth((this.#depth += 1), param);
    yield;
    const language = yield* this.#languageOf(schema, param);
    this.#depth -= 1;
    return language;
  }

  *#languageOf(schema: unknown, param: string): Work<Expression> {
    if (schema === true) return this.#json.value;
    if (schema === false) throw refusal(param, 'allows no value', 'leave it out');
    if (!isRecord(schema)) throw refusal(param, 'is no JSON Schema', 'write an object');
    if (schema !== this.#root && schema['$id'] !== undefined && JSON.stringify(schema).includes('"$ref"'))
      throw refusal(`${param}.$id`, "changes where references lead, which isn't read", 'leave it out');
    const keywords = keywordsOf(schema);
    if (keywords.length === 0) return this.#json.value;
    const combiner = COMBINERS.find((name) => keywords.includes(name));
    return yield* combiner === undefined
      ? this.#ofTypes(schema, keywords, param)
      : this.#combined(schema, combiner, keywords, param);
  }

  *#combined(schema: Fields, combiner: string, keywords: readonly string[], param: string): Work<Expression> {
    const isValue = combiner === 'const' || combiner === 'enum';
    const other = keywords.find((name) => name !== combiner && !(isValue && name === 'type'));
    if (other !== undefined)
      throw refusal(`${param}.${other}`, `can't be enforced beside ${combiner}`, 'move it into each branch');
    const value = schema[combiner];
    const own = `${param}.${combiner}`;
    if (combiner === '$ref') return this.#reference(value, own);
    if (!isValue) return yield* this.#branches(value, combiner, own);
    const values = combiner === 'const' ? [value] : value;
    const texts = valuesOf(schema, own);
    if (!Array.isArray(values) || !texts || texts.size === 0)
      throw refusal(own, 'lists no value', 'list at least one');
    const types = schema['type'] === undefined ? undefined : typesIn(schema, param);
    if (types && !values.every((entry) => types.some((type) => isOfType(entry, type))))
      throw refusal(own, 'has values of another type', 'leave out the type');
    return yield* choiceOf([...texts.values()], this.#json.make);
  }

  *#branches(branches: unknown, combiner: string, param: string): Work<Expression> {
    if (!Array.isArray(branches) || branches.length === 0)
      throw refusal(param, 'lists no schema', 'list at least one');
    if (combiner === 'allOf' && branches.length > 1)
      throw refusal(param, "can't be enforced for more than one schema", 'merge them into one');
    const languages: Expression[] = [];
    for (const [index, branch] of branches.entries())
      languages.push(yield* this.#valueOf(branch, `${param}[${index}]`));
    if (
      combiner === 'oneOf' &&
      !areExclusive(
        branches.map((branch) => this.#resolve(branch)),
        param,
      )
    )
      throw refusal(
        param,
        "can't be enforced for schemas that may accept the same value",
        'use anyOf, or give each a different type or a required property with a different const',
      );
    return this.#json.make.choice(languages);
  }

  #reference(reference: unknown, param: string): Expression {
    const target = this.#targetOf(reference);
    if (target === undefined)
      throw refusal(param, `doesn't resolve (${String(reference)})`, 'use #, #/$defs/… or #/definitions/…');
    const path = `${this.#rootParam}${String(reference).slice(1).replaceAll('/', '.')}`;
    const rule = this.#rules.get(target) ?? this.#json.make.rule(path);
    this.#rules.set(target, rule);
    return rule;
  }

  #targetOf(reference: unknown): unknown {
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
    let target: unknown = this.#root;
    for (const step of reference.split('/').slice(1)) {
      const name = nameIn(step);
      const isElement = Array.isArray(target) && /^\d+$/.test(name);
      if (!isElement && (!isRecord(target) || !Object.hasOwn(target, name))) return undefined;
      target = Array.isArray(target) ? target[Number(name)] : isRecord(target) ? target[name] : undefined;
    }
    return target;
  }

  #resolve(schema: unknown): unknown {
    if (!isRecord(schema) || schema['$ref'] === undefined) return schema;
    return keywordsOf(schema).length > 1 ? schema : this.#targetOf(schema['$ref']);
  }

  /** With what references in the names of properties lead to: which names there are must be known at once. */
  #withNames(schema: Fields, param: string): Fields {
    const { propertyNames } = schema;
    if (propertyNames === undefined) return schema;
    let numLeft = MAX_SCHEMAS_OF_NAMES;
    const inline = (part: unknown): unknown => {
      if ((numLeft -= 1) < 0)
        throw refusal(`${param}.propertyNames`, 'refers to too many schemas', 'list the names in one enum');
      const target = this.#resolve(part);
      if (target !== part) return inline(target);
      if (!isRecord(part)) return part;
      const branches = BRANCHES.flatMap((name) => {
        const parts = part[name];
        return Array.isArray(parts) ? [[name, parts.map(inline)] as const] : [];
      });
      return { ...part, ...Object.fromEntries(branches) };
    };
    return { ...schema, propertyNames: inline(propertyNames) };
  }

  *#ofTypes(schema: Fields, keywords: readonly string[], param: string): Work<Expression> {
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
    const numbers = types.includes('number') ? 'number' : 'integer';
    const different = [...new Set(types.map((type) => (type === 'integer' ? numbers : type)))];
    const languages: Expression[] = [];
    for (const type of different) languages.push(yield* this.#ofType(type, schema, param));
    return this.#json.make.choice(languages);
  }

  *#ofType(type: TypeName, schema: Fields, param: string): Work<Expression> {
    const json = this.#json;
    const valueOf: ValueOf = (part, place) => this.#valueOf(part, place);
    switch (type) {
      case 'object':
        return yield* objectLanguage(this.#withNames(schema, param), param, json, valueOf);
      case 'array':
        return yield* arrayLanguage(schema, param, json, valueOf, (item) => this.#resolve(item));
      case 'string':
        return yield* stringLanguage(schema, param, json);
      case 'number':
      case 'integer':
        return yield* numberLanguage(schema, type, param, json);
      case 'boolean':
        return json.make.choice([json.make.text('true'), json.make.text('false')]);
      case 'null':
        return json.make.text('null');
    }
  }
}

/** The keywords that restrict something. */
function keywordsOf(schema: Fields): readonly string[] {
  return Object.keys(schema).filter((name) => schema[name] !== undefined && !ANNOTATIONS.has(name));
}

/** The name in a step of a reference. */
function nameIn(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

/**
 * The types of a schema's values. A schema without a type but with keywords of objects, arrays or strings counts as one of these,
 * although by the standard it accepts all values of other types too.
 */
function typesIn(schema: Fields, param: string): readonly TypeName[] {
  const { type } = schema;
  const implied = (['object', 'array', 'string'] as const)
    .filter((name) => KEYWORDS[name].some((keyword) => schema[keyword] !== undefined))
    .slice(0, 1);
  if (type === undefined) return implied;
  const types = [type].flat().map((name) => TYPES.find((known) => known === name));
  const known = types.filter((name) => name !== undefined);
  if (types.length > 0 && known.length === types.length) return known;
  throw refusal(`${param}.type`, 'is no type of JSON', `use ${TYPES.join(', ')}`);
}

function isOfType(value: unknown, type: TypeName): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (value === null) return type === 'null';
  return type === (Array.isArray(value) ? 'array' : typeof value);
}
