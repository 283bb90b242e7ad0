import type { Expression } from './expressions.ts';
import { valuesOf } from './exclusive-schemas.ts';
import type { JsonLanguage } from './json-language.ts';
import type { Work } from './pace.ts';
import { countsOf, refusal, type Fields, type ValueOf } from './schema-parts.ts';

/** Lists. One with `prefixItems`, or draft-07's list of `items`, has all of these. @throws ResponseFormatUnsupportedError. */
export function* arrayLanguage(
  schema: Fields,
  param: string,
  json: JsonLanguage,
  valueOf: ValueOf,
  resolve: (schema: unknown) => unknown,
): Work<Expression> {
  const { items, prefixItems, additionalItems } = schema;
  const { make } = json;
  const { from, to } = countsOf(schema, 'minItems', 'maxItems', param);
  if (prefixItems !== undefined && !Array.isArray(prefixItems))
    throw refusal(`${param}.prefixItems`, 'is not a list of schemas', 'write a list');
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
  if (schema['uniqueItems'] === true && to > 1) {
    const place = `${param}.uniqueItems`;
    const schemas = [...prefix.slice(0, to), ...(further === make.never || most === 0 ? [] : [rest])];
    const values = schemas.map((item) => valuesOf(resolve(item), place));
    const last = further === make.never ? parts.length : to;
    return yield* uniqueList(values, from, Math.min(to, last), place, json);
  }
  if (parts.length === 0) return json.list('[', further, least, further === make.never ? 0 : most, ']');
  const comma = make.text(', ');
  const fixed = parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part]));
  const others = make.repeat(make.sequence([comma, further]), least, most);
  return make.sequence([make.text('['), ...fixed, others, make.text(']')]);
}

/** Sets of values that a list may have so far. */
const MAX_SETS = 2000;

/** Lists of different ones of these values: those of each place, the last of which are for all further ones. */
function* uniqueList(
  places: readonly (ReadonlyMap<string, string> | undefined)[],
  from: number,
  to: number,
  param: string,
  { make }: JsonLanguage,
): Work<Expression> {
  const listed = places.filter((values) => values !== undefined);
  if (listed.length < places.length)
    throw refusal(
      param,
      "can't be enforced for values that aren't listed",
      'list them in an enum, or leave it out',
    );
  const all = new Map(listed.flatMap((values) => [...values]));
  const names = [...all.keys()];
  const texts = [...all.values()].map((text) => make.text(text));
  const rules = new Map<string, Expression>();
  /** The expression after the values that are used already. */
  const behind = function* behind(used: readonly number[]): Work<Expression> {
    const key = String(used);
    const known = rules.get(key);
    if (known) return known;
    const rule = make.rule(param);
    rules.set(key, rule);
    if (rules.size > MAX_SETS)
      throw refusal(param, 'has too many values to choose from', 'list fewer values, or lower maxItems');
    const comma = used.length === 0 ? make.empty : make.text(', ');
    const values = used.length < to ? (listed[used.length] ?? listed.at(-1)) : undefined;
    const next = [...texts.keys()].filter(
      (index) => values?.has(names[index] ?? '') === true && !used.includes(index),
    );
    const ways: Expression[] = used.length >= from ? [make.empty] : [];
    for (const index of next) {
      yield;
      const further = yield* behind([...used, index].toSorted((a, b) => a - b));
      if (further !== make.never) ways.push(make.sequence([comma, texts[index] ?? make.never, further]));
    }
    rule.body = make.choice(ways);
    if (ways.length === 0) {
      rules.set(key, make.never);
      return make.never;
    }
    return rule;
  };
  const lists = yield* behind([]);
  if (lists === make.never) throw refusal(param, 'allows no list', 'lower minItems, or list more values');
  return make.sequence([make.text('['), lists, make.text(']')]);
}
