import { allocate, nested } from './bounds.ts';
import { PyObject, TemplateError, type Value } from './values.ts';

/** Python's limit for the text of an `int`. */
const MAX_DIGITS = 4300;

/** `str(value)`. */
export function str(value: Value): string {
  if (typeof value === 'string') return value;
  return value instanceof PyObject ? value.text() : repr(value);
}

/** `repr(value)`. */
export function repr(value: Value): string {
  const text = nested(() => write(value));
  allocate(text.length);
  return text;
}

function write(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return integerText(value);
  if (typeof value === 'number') return floatText(value);
  return value instanceof PyObject ? value.repr() : `[${value.map(repr).join(', ')}]`;
}

export function integerText(value: bigint): string {
  const text = value.toString();
  if (text.length > MAX_DIGITS + 1)
    throw new TemplateError('Exceeds the limit (4300 digits) for integer string conversion');
  return text;
}

/** The shortest digits that give the number, as JavaScript has them, in Python's form. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16))
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  const numDecimals = Math.max(0, digits.replace('-', '').replace('.', '').length - 1 - exponent);
  return Number.isInteger(value) ? `${BigInt(value)}.0` : value.toFixed(Math.min(100, numDecimals));
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

export function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  // Separators and characters without a form are escaped, and a space is not.
  const inner = text.replaceAll(/[\\\p{C}\p{Z}'"]/gu, (character) => {
    if (character === ' ') return character;
    if (character === "'" || character === '"') return character === mark ? `\\${character}` : character;
    return ESCAPES[character] ?? escapeCharacter(character);
  });
  return `${mark}${inner}${mark}`;
}

export function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
}
