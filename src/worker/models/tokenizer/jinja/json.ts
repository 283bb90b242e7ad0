import { allocate, nested } from './bounds.ts';
import { numberOf, sorted, textOf } from './compare.ts';
import { Dict, Tuple } from './containers.ts';
import { floatText, integerText, str } from './print.ts';
import { isList, isTrue, TemplateError, typeName, type Value } from './values.ts';
import { integer } from './numbers.ts';

interface Format {
  readonly isAscii: boolean;
  readonly indent: string | undefined;
  readonly separators: readonly [string, string];
  readonly isSorted: boolean;
}

/** `json.dumps` with the options that `tojson` of huggingface/transformers has. @throws TemplateError as Python's TypeError. */
export function toJson(
  value: Value,
  isAscii: Value = false,
  indent: Value = null,
  separators: Value = null,
  sortKeys: Value = false,
): string {
  const unit = indent === null ? undefined : (textOf(indent) ?? ' '.repeat(Math.min(100, integer(indent))));
  const given = separators instanceof Tuple ? separators.items : separators;
  const [item = unit === undefined ? ', ' : ',', key = ': '] = isList(given) ? given : [];
  return write(value, '', {
    isAscii: isTrue(isAscii),
    indent: unit,
    separators: [str(item), str(key)],
    isSorted: isTrue(sortKeys),
  });
}

function write(value: Value, margin: string, format: Format): string {
  const text = nested(() => writeValue(value, margin, format));
  allocate(text.length);
  return text;
}

function writeValue(value: Value, margin: string, format: Format): string {
  const text = textOf(value);
  if (text !== undefined) return writeText(text, format);
  if (isList(value) || value instanceof Tuple) {
    const items: readonly Value[] = value instanceof Tuple ? value.items : value;
    return enclose('[', ']', margin, format, (inner) => items.map((item) => write(item, inner, format)));
  }
  if (value instanceof Dict) {
    const entries = [...value.entries];
    const ordered = format.isSorted ? sorted(entries, ([key]) => key) : entries;
    return enclose('{', '}', margin, format, (inner) =>
      ordered.map(
        ([key, item]) =>
          `${writeText(keyText(key), format)}${format.separators[1]}${write(item, inner, format)}`,
      ),
    );
  }
  const plain = scalarText(value);
  if (plain === undefined)
    throw new TemplateError(`Object of type ${typeName(value)} is not JSON serializable`);
  return plain;
}

function enclose(
  start: string,
  end: string,
  margin: string,
  { indent, separators }: Format,
  parts: (inner: string) => readonly string[],
): string {
  const inner = indent === undefined ? margin : margin + indent;
  const texts = parts(inner);
  if (indent === undefined || texts.length === 0) return start + texts.join(separators[0]) + end;
  return `${start}\n${inner}${texts.join(`${separators[0]}\n${inner}`)}\n${margin}${end}`;
}

function scalarText(value: Value): string | undefined {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'bigint') return integerText(value);
  if (typeof value !== 'number') return undefined;
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? floatText(value) : value > 0 ? 'Infinity' : '-Infinity';
}

function keyText(key: Value): string {
  const text = textOf(key) ?? scalarText(key);
  if (text !== undefined && (key === null || textOf(key) !== undefined || numberOf(key) !== undefined))
    return text;
  throw new TemplateError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

const SPECIAL = /["\\\p{Cc}]/gu;
const SPECIAL_IN_ASCII = /["\\]|[^\x20-\x7e]/g;

/** Without `isAscii`, the control characters from U+007F on stay as they are. */
function writeText(text: string, { isAscii }: Format): string {
  const written = text.replaceAll(isAscii ? SPECIAL_IN_ASCII : SPECIAL, (unit) =>
    !isAscii && unit >= '\x7f' ? unit : (ESCAPES[unit] ?? escapeUnit(unit)),
  );
  return `"${written}"`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
