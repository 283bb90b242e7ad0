import type { Expression, Rule } from './expressions.ts';
import { valuesOf } from './exclusive-schemas.ts';
import { writeJson, type JsonLanguage } from './json-language.ts';
import type { Work } from './pace.ts';
import { countsOf, refusal, type Fields, type ValueOf } from './schema-parts.ts';

/** Lists. One with `prefixItems`, or draft-07's list of `items`, has all of these. @throws ResponseFormatUnsupportedError. */
export function* arrayLanguage(
  schema: Fields,
  param: string,
  json: JsonLanguage,
  valueOf: ValueOf,
): Work<Expression> {
  const { items, prefixItems, additionalItems } = schema;
  const { make } = json;
  const { from, to } = countsOf(schema, 'minItems', 'maxItems', param);
  if (schema['uniqueItems'] === true) {
    if (to <= 1) return yield* arrayLanguage({ ...schema, uniqueItems: false }, param, json, valueOf);
    return yield* uniqueList(valuesOf(items), from, to, `${param}.uniqueItems`, json);
  }
  if (prefixItems !== undefined && !Array.isArray(prefixItems))
    throw refusal(`${param}.prefixItems`, 'is no list of schemas', 'write a list');
  const name = Array.isArray(items) ? 'items' : 'prefixItems';
  const prefix: readonly unknown[] = Array.isArray(items) ? items : (prefixItems ?? []);
  const [restName, rest = prefixItems === undefined && !Array.isArray(items)] = Array.isArray(items)
    ? ['additionalItems', additionalItems]
    : ['items', items];
  const parts: Expression[] = [];
  for (const [index, item] of prefix.slice(0, to).entries())
    parts.push(yield* valueOf(item, `${param}.${name}[${index}]`));
  const further = rest === false ? make.never : yield* valueOf(rest, `${param}.${restName}`);
  const [least, most] = [Math.max(0, from - parts.length), to - parts.length];
  if (further === make.never && least > 0)
    throw refusal(`${param}.minItems`, 'is above the number of items that are allowed', 'lower it');
  if (parts.length === 0) return json.list('[', further, least, further === make.never ? 0 : most, ']');
  const comma = make.text(', ');
  const fixed = parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part]));
  const others = make.repeat(make.sequence([comma, further]), least, most);
  return make.sequence([make.text('['), ...fixed, others, make.text(']')]);
}

/** Sets of values that a list may have so far. */
const MAX_SETS = 2000;

/** Lists of different ones of these values. */
function* uniqueList(
  values: readonly string[] | undefined,
  from: number,
  to: number,
  param: string,
  { make }: JsonLanguage,
): Work<Expression> {
  if (!values)
    throw refusal(
      param,
      "can't be enforced for values that aren't listed",
      'list them in an enum, or leave it out',
    );
  const different = [...new Set(values)];
  if (from > different.length) throw refusal(param, 'allows no list', 'lower minItems');
  const texts = different.map((value) => make.text(writeJson(JSON.parse(value))));
  const rules = new Map<string, Rule>();
  /** What may follow values that are used. */
  const behind = function* behind(used: readonly number[]): Work<Expression> {
    const key = String(used);
    const known = rules.get(key);
    if (known) return known;
    const rule = make.rule(param);
    rules.set(key, rule);
    if (rules.size > MAX_SETS)
      throw refusal(param, 'has too many values to choose from', 'list fewer values, or lower maxItems');
    const comma = used.length === 0 ? make.empty : make.text(', ');
    const next = used.length < to ? [...texts.keys()].filter((index) => !used.includes(index)) : [];
    const ways: Expression[] = used.length >= from ? [make.empty] : [];
    for (const index of next) {
      yield;
      const further = yield* behind([...used, index].toSorted((a, b) => a - b));
      ways.push(make.sequence([comma, texts[index] ?? make.never, further]));
    }
    rule.body = make.choice(ways);
    return rule;
  };
  return make.sequence([make.text('['), yield* behind([]), make.text(']')]);
}
