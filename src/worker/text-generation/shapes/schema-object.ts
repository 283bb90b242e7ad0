import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { ALL, without } from './character-set.ts';
import type { Expression } from './expressions.ts';
import { writeJson, type JsonLanguage } from './json-language.ts';
import type { Fields, ValueOf } from './schema-parts.ts';

/** Characters of a listed key that another key may begin with. */
const MAX_FOLLOWED = 64;

interface Member {
  readonly member: Expression;
  readonly isRequired: boolean;
}

/** Objects with their properties in the schema's order, and others behind them. @throws ResponseFormatUnsupportedError. */
export function objectLanguage(
  schema: Fields,
  param: string,
  json: JsonLanguage,
  valueOf: ValueOf,
): Expression {
  const { properties = {}, required = [], propertyNames, patternProperties = {} } = schema;
  const { make } = json;
  const refuse = (name: string, reason: string, remedy: string): ResponseFormatUnsupportedError =>
    ResponseFormatUnsupportedError.of(`${param}.${name}`, reason, remedy);
  if (!isRecord(properties)) throw refuse('properties', 'is no record of schemas', 'write an object');
  if (!Array.isArray(required)) throw refuse('required', 'is no list of names', 'write a list');
  if (!isRecord(patternProperties))
    throw refuse('patternProperties', 'is no record of schemas', 'write an object');
  const listsNone = ['properties', 'required', 'patternProperties'].every(
    (name) => schema[name] === undefined,
  );
  const { additionalProperties: additional = listsNone } = schema;
  const isOpen = additional !== false;
  const keys = [...new Set([...Object.keys(properties), ...required.map(String)])];
  const lacking = keys.find((key) => !isOpen && !Object.hasOwn(properties, key));
  if (lacking !== undefined)
    throw refuse('required', `names ${lacking}, which properties lack`, 'add it to properties');
  const other = isOpen ? valueOf(additional, `${param}.additionalProperties`) : make.never;
  const names = propertyNames === undefined ? undefined : valueOf(propertyNames, `${param}.propertyNames`);
  const unfit = required.find((key) => names && !json.languages.accepts(names, writeJson(String(key))));
  if (unfit !== undefined)
    throw refuse('propertyNames', `don't fit ${String(unfit)}, which is required`, 'widen them');
  const members = keys
    .filter((key) => !names || json.languages.accepts(names, writeJson(key)))
    .map((key): Member => {
      const value = Object.hasOwn(properties, key)
        ? valueOf(properties[key], `${param}.properties.${key}`)
        : other;
      return { member: json.member(make.text(writeJson(key)), value), isRequired: required.includes(key) };
    });
  const anyKey = json.string(make.repeat(json.characterOf(ALL), 0, Infinity));
  const listed = keys.map((key) => make.text(writeJson(key)));
  const matching = Object.keys(patternProperties).map((pattern) =>
    json.string(json.pattern(pattern, `${param}.patternProperties.${pattern}`, true)),
  );
  const twice = keys.find((key) => matching.some((each) => json.languages.accepts(each, writeJson(key))));
  if (twice !== undefined)
    throw refuse('patternProperties', `match ${twice}, which properties list`, 'let them match other names');
  const further = [
    ...Object.entries(patternProperties).map(([pattern, value], index) => {
      const others = matching.filter((each) => each !== matching[index]);
      const key = keysIn([matching[index] ?? make.never], [...listed, ...others]);
      return json.member(key, valueOf(value, `${param}.patternProperties.${pattern}`));
    }),
    ...(isOpen ? [json.member(otherKeys(), other)] : []),
  ];
  return make.sequence([make.text('{'), inOrder(members, make.choice(further), param, json), make.text('}')]);

  function otherKeys(): Expression {
    if (names || matching.length > 0) return keysIn([], [...listed, ...matching]);
    const rests = keys.map((key) => Array.from(key));
    return json.string(keysBeside(rests, json));
  }

  /** Keys in the spelling of `JSON.stringify`: an escape could spell one that isn't allowed. */
  function keysIn(all: readonly Expression[], none: readonly Expression[]): Expression {
    return json.languages.combineNow([...(names ? [names] : []), ...all, anyKey], none, param);
  }
}

/** From the last to the first: what follows a member depends on whether one came before. */
function inOrder(
  members: readonly Member[],
  further: Expression,
  param: string,
  { make }: JsonLanguage,
): Expression {
  const comma = make.text(', ');
  const others = make.repeat(make.sequence([comma, further]), 0, Infinity);
  let first = make.optional(make.sequence([further, others]));
  let later = others;
  for (const { member, isRequired } of members.toReversed()) {
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
function keysBeside(rests: readonly (readonly string[])[], json: JsonLanguage, depth = 0): Expression {
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
  const goesOn = followed.map(([first, group]) => {
    const code = first.codePointAt(0) ?? 0;
    const further = keysBeside(
      group.map((rest) => rest.slice(1)),
      json,
      depth + 1,
    );
    return make.sequence([json.characterOf([[code, code]]), further]);
  });
  const ends = rests.some(({ length }) => length === 0) ? [] : [make.empty];
  return make.choice([...ends, make.sequence([otherwise, any]), ...goesOn]);
}
