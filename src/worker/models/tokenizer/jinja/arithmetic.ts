import { allocate, sized, tooLarge } from './bounds.ts';
import { numberOf, textOf } from './compare.ts';
import { Dict, Tuple } from './containers.ts';
import { percent } from './format.ts';
import { Markup } from './markup.ts';
import { isList, TemplateError, typeName, Undefined, UnsupportedFeature, type Value } from './values.ts';

/** Digits in base 2 of an int. Python's limit for its text is 4,300 decimal digits. */
const MAX_BITS = 2 ** 15;

/** `left <operator> right`. @throws TemplateError as Python's TypeError or ZeroDivisionError. */
export function binary(operator: string, left: Value, right: Value): Value {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined)
    return typeof a === 'bigint' && typeof b === 'bigint'
      ? integers(operator, a, b)
      : floats(operator, Number(a), Number(b));
  const text = textOf(left);
  if (operator === '%' && text !== undefined) {
    const formatted = percent(text, left instanceof Markup ? escaped(right) : right);
    return left instanceof Markup ? new Markup(formatted) : formatted;
  }
  const result =
    operator === '+'
      ? joined(left, right)
      : operator === '*'
        ? (repeated(left, b) ?? repeated(right, a))
        : undefined;
  if (result !== undefined) return result;
  for (const value of [left, right]) if (value instanceof Undefined) value.fail();
  throw new TemplateError(
    `unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`,
  );
}

function escaped(value: Value): Value {
  if (value instanceof Tuple) return new Tuple(value.items.map(escaped));
  if (value instanceof Dict) return new Dict([...value.entries].map(([key, part]) => [key, escaped(part)]));
  return numberOf(value) === undefined ? Markup.escape(value).text() : value;
}

function integers(operator: string, a: bigint, b: bigint): Value {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      checkBits(bitsOf(a) + bitsOf(b));
      return a * b;
    case '**':
      if (b < 0n) return floats('**', Number(a), Number(b));
      if (bitsOf(a) > 1) checkBits(bitsOf(a) * Number(b));
      return a ** b;
    case '/':
      requireNonZero(b);
      if (!isExact(a) || !isExact(b)) throw new UnsupportedFeature('a quotient of ints of more than 53 bits');
      return Number(a) / Number(b);
    default: {
      requireNonZero(b);
      // Python rounds down, JavaScript towards zero.
      const rest = a % b;
      const isOff = rest !== 0n && rest < 0n !== b < 0n;
      if (operator === '%') return isOff ? rest + b : rest;
      return a / b - (isOff ? 1n : 0n);
    }
  }
}

function floats(operator: string, a: number, b: number): Value {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '**':
      if (a < 0 && !Number.isInteger(b)) throw new UnsupportedFeature('complex numbers');
      if (a === 0 && b < 0) throw new TemplateError('0.0 cannot be raised to a negative power');
      return a ** b;
    case '/':
      requireNonZero(b);
      return a / b;
    default: {
      requireNonZero(b);
      const rest = a % b;
      const isOff = rest !== 0 && rest < 0 !== b < 0;
      const modulo = isOff ? rest + b : rest;
      // A zero has the sign of the divisor, or of the quotient.
      if (operator === '%') return modulo === 0 ? (b < 0 ? -0 : 0) : modulo;
      return wholeQuotient(a / b, (a - rest) / b - (isOff ? 1 : 0));
    }
  }
}

/** As CPython divides: where the quotient is zero, it keeps the sign. */
function wholeQuotient(exact: number, quotient: number): number {
  if (quotient === 0) return exact < 0 || Object.is(exact, -0) ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

/** Whether a float has all its digits. */
function isExact(value: bigint): boolean {
  return BigInt.asIntN(54, value) === value;
}

function requireNonZero(value: bigint | number): void {
  if (value == 0) throw new TemplateError('division by zero');
}

function bitsOf(value: bigint): number {
  return value.toString(16).length * 4;
}

function checkBits(numBits: number): void {
  if (numBits > MAX_BITS) throw tooLarge('a number with too many digits');
}

function joined(left: Value, right: Value): Value | undefined {
  const [a, b] = [textOf(left), textOf(right)];
  if (a !== undefined && b !== undefined) {
    return left instanceof Markup || right instanceof Markup
      ? new Markup(Markup.escape(left).text() + Markup.escape(right).text())
      : sized(a + b);
  }
  if (isList(left) && isList(right)) {
    allocate(left.length + right.length);
    return [...left, ...right];
  }
  if (!(left instanceof Tuple) || !(right instanceof Tuple)) return undefined;
  allocate(left.items.length + right.items.length);
  return new Tuple([...left.items, ...right.items]);
}

function repeated(value: Value, times: bigint | number | undefined): Value | undefined {
  if (typeof times !== 'bigint') return undefined;
  const count = times < 0n ? 0 : Number(times);
  const text = textOf(value);
  if (text !== undefined) {
    allocate(text.length * count);
    return value instanceof Markup ? new Markup(text.repeat(count)) : text.repeat(count);
  }
  const items = value instanceof Tuple ? value.items : value;
  if (!isList(items)) return undefined;
  allocate(items.length * count);
  const all: readonly Value[] = Array.from({ length: count }, (): readonly Value[] => items).flat();
  return value instanceof Tuple ? new Tuple(all) : all;
}

/** `-value`, `+value`. @throws TemplateError as Python's TypeError. */
export function unary(operator: '-' | '+', value: Value): Value {
  const number = numberOf(value);
  if (number !== undefined) return operator === '-' ? -number : number;
  if (value instanceof Undefined) value.fail();
  throw new TemplateError(`bad operand type for unary ${operator}: '${typeName(value)}'`);
}
