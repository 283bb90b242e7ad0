import { TemplateError, typeName, type Value } from './values.ts';

/** A float as an exact fraction: its numerator, and the power of two that divides it. */
function fractionOf(value: number): readonly [bigint, bigint] {
  let numerator = value;
  let bits = 0n;
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    bits += 1n;
  }
  return [BigInt(numerator), bits];
}

/** `value * 10 ** power`, rounded half to even, as Python rounds: the value is taken exactly. Not negative. */
export function scaled(value: number, power: number): bigint {
  const [mantissa, bits] = fractionOf(value);
  const numerator = mantissa * 10n ** BigInt(Math.max(0, power));
  const denominator = 2n ** bits * 10n ** BigInt(Math.max(0, -power));
  const floor = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  return twice > denominator || (twice === denominator && floor % 2n === 1n) ? floor + 1n : floor;
}

/** `value` with so many decimals, without a sign. */
export function fixed(value: number, numDecimals: number): string {
  const digits = scaled(Math.abs(value), numDecimals)
    .toString()
    .padStart(numDecimals + 1, '0');
  const point = digits.length - numDecimals;
  return numDecimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The digits and the exponent of a value with so many decimals in scientific notation, without a sign. */
export function scientific(value: number, numDecimals: number): readonly [string, number] {
  const size = Math.abs(value);
  if (size === 0) return ['0'.repeat(numDecimals + 1), 0];
  const exponent = Number(size.toExponential().split('e')[1]);
  const digits = scaled(size, numDecimals - exponent).toString();
  // Rounding may carry into another digit.
  return digits.length > numDecimals + 1 ? [digits.slice(0, -1), exponent + 1] : [digits, exponent];
}

/** An int where Python expects one, such as an index. @throws TemplateError */
export function integer(value: Value | undefined, fallback?: number): number {
  if (value === undefined && fallback !== undefined) return fallback;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') return Number(value);
  throw new TemplateError(`'${typeName(value ?? null)}' object cannot be interpreted as an integer`);
}

/** The most digits in a base that is a power of two: reading takes quadratic time. */
const MAX_DIGITS = 8192;

const INTEGER = /^[-+]?(?:[0-9a-z]_?)*[0-9a-z]$/i;
const FLOAT = /^[-+]?(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:e[-+]?\d(?:_?\d)*)?$/i;
const SPECIAL = /^([-+]?)(?:(inf|infinity)|nan)$/i;
/** Python takes the decimal digits of every script. */
const OTHER_DIGITS = /[^\P{Nd}0-9]/gu;

/** `int(text, base)`, of a text without white space around it; undefined where Python raises ValueError. */
export function parseInteger(text: string, base: number): bigint | undefined {
  const match = INTEGER.exec(asciiDigits(text));
  const isNegative = text.startsWith('-');
  let digits = match?.[0].replaceAll('_', '').replace(/^[-+]/, '').toLowerCase() ?? '';
  const prefix = { 2: '0b', 8: '0o', 16: '0x' }[base];
  if (prefix !== undefined && digits.startsWith(prefix)) digits = digits.slice(2);
  let result = 0n;
  // Python's limit, which isn't for bases that are powers of two.
  if (digits === '' || (digits.length > 4300 && (base & (base - 1)) !== 0)) return undefined;
  if (digits.length > MAX_DIGITS) throw new RangeError('it reads a number with too many digits');
  for (const character of digits) {
    const digit = Number.parseInt(character, 36);
    if (digit >= base) return undefined;
    result = result * BigInt(base) + BigInt(digit);
  }
  return isNegative ? -result : result;
}

/** `float(text)`, of a text without white space around it; undefined where Python raises ValueError. */
export function parseFloat(text: string): number | undefined {
  const ascii = asciiDigits(text);
  const special = SPECIAL.exec(ascii);
  if (special) {
    if (special[2] === undefined) return Number.NaN;
    return special[1] === '-' ? -Infinity : Infinity;
  }
  return FLOAT.test(ascii) ? Number(ascii.replaceAll('_', '')) : undefined;
}

function asciiDigits(text: string): string {
  return text.replaceAll(OTHER_DIGITS, (digit) => {
    // The digits of a script follow each other, from zero to nine.
    let zero = digit.codePointAt(0) ?? 0;
    const start = zero;
    while (start - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String(start - zero);
  });
}
