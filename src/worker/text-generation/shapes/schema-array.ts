import type { Expression } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import { countsOf, refusal, type Fields, type ValueOf } from './schema-parts.ts';

/** Lists. One with `prefixItems`, or draft-07's list of `items`, has all of these. @throws ResponseFormatUnsupportedError. */
export function arrayLanguage(
  schema: Fields,
  param: string,
  json: JsonLanguage,
  valueOf: ValueOf,
): Expression {
  const { items, prefixItems, additionalItems } = schema;
  const { make } = json;
  const { from, to } = countsOf(schema, 'minItems', 'maxItems', param);
  if (schema['uniqueItems'] === true)
    throw refusal(`${param}.uniqueItems`, "can't be enforced", 'leave it out, and check the answer yourself');
  if (prefixItems !== undefined && !Array.isArray(prefixItems))
    throw refusal(`${param}.prefixItems`, 'is no list of schemas', 'write a list');
  const name = Array.isArray(items) ? 'items' : 'prefixItems';
  const prefix: readonly unknown[] = Array.isArray(items) ? items : (prefixItems ?? []);
  const [restName, rest = prefixItems === undefined && !Array.isArray(items)] = Array.isArray(items)
    ? ['additionalItems', additionalItems]
    : ['items', items];
  const parts = prefix.slice(0, to).map((item, index) => valueOf(item, `${param}.${name}[${index}]`));
  const further = rest === false ? make.never : valueOf(rest, `${param}.${restName}`);
  const [least, most] = [Math.max(0, from - parts.length), to - parts.length];
  if (further === make.never && least > 0)
    throw refusal(`${param}.minItems`, 'is above the number of items that are allowed', 'lower it');
  if (parts.length === 0) return json.list('[', further, least, further === make.never ? 0 : most, ']');
  const comma = make.text(', ');
  const fixed = parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part]));
  const others = make.repeat(make.sequence([comma, further]), least, most);
  return make.sequence([make.text('['), ...fixed, others, make.text(']')]);
}
