import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { ALL, without } from './character-set.ts';
import type { Expression } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import type { Work } from './pace.ts';
import type { Fields, ValueOf } from './schema-parts.ts';

/** Characters of a listed key that another key may begin with. */
const MAX_FOLLOWED = 64;

interface Member {
  readonly member: Expression;
  readonly isRequired: boolean;
}

/** Objects with their properties in the schema's order, and others behind them. @throws ResponseFormatUnsupportedError. */
export function* objectLanguage(
  schema: Fields,
  param: string,
  json: JsonLanguage,
  valueOf: ValueOf,
): Work<Expression> {
  const { properties = {}, required = [], propertyNames, patternProperties = {} } = schema;
  const { make } = json;
  const refuse = (name: string, reason: string, remedy: string): ResponseFormatUnsupportedError =>
    ResponseFormatUnsupportedError.of(`${param}.${name}`, reason, remedy);
  if (!isRecord(properties)) throw refuse('properties', 'is no record of schemas', 'write an object');
  if (!Array.isArray(required)) throw refuse('required', 'is not a list of names', 'write a list');
  if (!isRecord(patternProperties))
    throw refuse('patternProperties', 'is no record of schemas', 'write an object');
  const listsNone = ['properties', 'required', 'patternProperties'].every(
    (name) => schema[name] === undefined,
  );
  const { additionalProperties: additional = listsNone } = schema;
  const isOpen = additional !== false;
  const isNeeded = new Set<unknown>(required);
  const named = [...new Set([...Object.keys(properties), ...required.map(String)])];
  const lacking = named.find((key) => !isOpen && !Object.hasOwn(properties, key));
  if (lacking !== undefined)
    throw refuse('required', `names ${lacking}, which properties lack`, 'add it to properties');
  const other = isOpen ? yield* valueOf(additional, `${param}.additionalProperties`) : make.never;
  const names =
    propertyNames === undefined ? undefined : yield* valueOf(propertyNames, `${param}.propertyNames`);
  const anyKey = json.string(make.repeat(json.characterOf(ALL), 0, Infinity));
  const matching: Expression[] = [];
  for (const pattern of Object.keys(patternProperties)) {
    const match = json.string(yield* json.pattern(pattern, `${param}.patternProperties.${pattern}`, true));
    matching.push(match);
    for (const key of named)
      if (yield* json.languages.accepts(match, JSON.stringify(key)))
        throw refuse(
          'patternProperties',
          `match ${key}, which properties list`,
          'let them match other names',
        );
  }
  // Only names that are listed are written once.
  const allNames = matching.length > 0 ? undefined : namesIn(propertyNames);
  if (allNames?.length === 0) throw refuse('propertyNames', 'allow no string', 'list strings');
  const keys = [...new Set([...named, ...(isOpen ? (allNames ?? []) : [])])];
  const members: Member[] = [];
  for (const key of keys) {
    yield;
    const isRequired = isNeeded.has(key);
    if (names && !(yield* json.languages.accepts(names, JSON.stringify(key)))) {
      if (isRequired) throw refuse('propertyNames', `don't fit ${key}, which is required`, 'widen them');
      continue;
    }
    const isListed = Object.hasOwn(properties, key);
    const value = isListed ? yield* valueOf(properties[key], `${param}.properties.${key}`) : other;
    members.push({ member: json.member(make.text(JSON.stringify(key)), value), isRequired });
  }
  const further: Expression[] = [];
  for (const [index, [pattern, value]] of Object.entries(patternProperties).entries()) {
    const others = matching.filter((_, at) => at !== index);
    const key = yield* keysIn([matching[index] ?? make.never], [...(yield* listed()), ...others]);
    further.push(json.member(key, yield* valueOf(value, `${param}.patternProperties.${pattern}`)));
  }
  if (isOpen && !allNames) further.push(json.member(yield* otherKeys(), other));
  const ordered = yield* inOrder(members, make.choice(further), param, json);
  return make.sequence([make.text('{'), ordered, make.text('}')]);

  function* otherKeys(): Work<Expression> {
    if (names || matching.length > 0) return yield* keysIn([], [...(yield* listed()), ...matching]);
    const rests = keys.map((key) => Array.from(key));
    return json.string(yield* keysBeside(rests, json));
  }

  /** Each of the listed keys. */
  function* listed(): Work<readonly Expression[]> {
    const texts: Expression[] = [];
    for (const key of keys) {
      texts.push(make.text(JSON.stringify(key)));
      yield;
    }
    return texts;
  }

  /** Keys in the spelling of `JSON.stringify`: an escape could spell one that isn't allowed. */
  function keysIn(all: readonly Expression[], none: readonly Expression[]): Work<Expression> {
    return json.languages.combine([...(names ? [names] : []), ...all, anyKey], none, param);
  }
}

/** The names of properties that an enum, a const or branches of these list; undefined where there may be others. */
function namesIn(schema: unknown): readonly string[] | undefined {
  if (!isRecord(schema)) return undefined;
  if (Array.isArray(schema['enum'])) return schema['enum'].filter((name) => typeof name === 'string');
  if ('const' in schema) return namesIn({ enum: [schema['const']] });
  for (const combiner of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[combiner];
    if (!Array.isArray(branches)) continue;
    const names = branches.map(namesIn);
    const known = names.filter((each) => each !== undefined);
    return known.length === names.length ? known.flat() : undefined;
  }
  return undefined;
}

/** From the last to the first: what follows a member depends on whether one came before. */
function* inOrder(
  members: readonly Member[],
  further: Expression,
  param: string,
  { make }: JsonLanguage,
): Work<Expression> {
  const comma = make.text(', ');
  const others = make.repeat(make.sequence([comma, further]), 0, Infinity);
  let first = make.optional(make.sequence([further, others]));
  let later = others;
  for (const { member, isRequired } of members.toReversed()) {
    yield;
    const [asFirst, asLater] = [make.sequence([member, later]), make.sequence([comma, member, later])];
    // Rules keep the choices of many properties apart.
    first = make.rule(param, isRequired ? asFirst : make.choice([asFirst, first]));
    later = make.rule(param, isRequired ? asLater : make.choice([asLater, later]));
  }
  return first;
}

/**
 * The strings that are none of these keys, and in the spelling of `JSON.stringify`: an escape could spell one of them.
 *
 * @param rests The characters that are left of each key, behind `depth` ones.
 */
function* keysBeside(rests: readonly (readonly string[])[], json: JsonLanguage, depth = 0): Work<Expression> {
  const { make } = json;
  const any = make.repeat(json.characterOf(ALL), 0, Infinity);
  if (rests.length === 0) return any;
  const byFirst = Map.groupBy(
    rests.filter(({ length }) => length > 0),
    ([first = '']) => first,
  );
  const firsts = Array.from(byFirst.keys(), (first) => first.codePointAt(0) ?? 0);
  const otherwise = json.characterOf(
    without(
      ALL,
      firsts.map((code) => [code, code]),
    ),
  );
  const followed = depth < MAX_FOLLOWED ? [...byFirst] : [];
  const goesOn: Expression[] = [];
  for (const [first, group] of followed) {
    yield;
    const code = first.codePointAt(0) ?? 0;
    const further = yield* keysBeside(
      group.map((rest) => rest.slice(1)),
      json,
      depth + 1,
    );
    goesOn.push(make.sequence([json.characterOf([[code, code]]), further]));
  }
  const ends = rests.some(({ length }) => length === 0) ? [] : [make.empty];
  return make.choice([...ends, make.sequence([otherwise, any]), ...goesOn]);
}
