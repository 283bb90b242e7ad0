import type { Clock } from './clock.ts';
import { describeInvalid, InvalidOptionError, shown, wrongArgument } from './errors.ts';
import { isVanishing, UNROUNDED } from './rounded-integers.ts';

/** Returns the value, now typed, or throws `InvalidOptionError` naming the option. */
export interface Validate<Value> {
  (option: string, value: unknown): Value;
  /** As in "Expected `x` to be …". */
  readonly expected: string;
}

export interface ValidateNumber extends Validate<number> {
  readonly holds: (value: number) => boolean;
}

/** One validator per option: the table is also the list of options that exist. */
export type Validators<Options> = { readonly [Option in keyof Options]-?: Validate<Options[Option]> };

/** `from` and `to` belong to the range, `above` does not; a bound left out does not bind. */
export interface NumberRange {
  readonly from?: number;
  readonly above?: number;
  readonly to?: number;
}

/** @param read Returns the typed value, or throws what `refuse` makes of the part that is wrong. */
export function validator<Value>(
  expected: string,
  read: (value: unknown, refuse: (got: unknown) => InvalidOptionError, option: string) => Value,
): Validate<Value> {
  const validate = (option: string, value: unknown): Value =>
    read(value, (got) => InvalidOptionError.of(option, expected, got), option);
  return Object.assign(validate, { expected });
}

export function integerIn(range: NumberRange): ValidateNumber {
  const holds = (value: number): boolean => Number.isSafeInteger(value) && isIn(range, value);
  return numberThat(`an integer${describe(range)}`, holds, (value) => {
    // Nobody knows which integer was meant.
    const isOther = Number.isInteger(value) && isIn(range, value);
    return isOther ? UNROUNDED : undefined;
  });
}

/** Reads `true` as 0, and `false` as left out. */
export function integerOrBooleanIn(range: NumberRange): Validate<number | undefined> {
  const isInteger = integerIn(range);
  return validator(`true, false or ${isInteger.expected}`, (value, refuse): number | undefined => {
    if (typeof value === 'boolean') return value ? 0 : undefined;
    if (typeof value === 'number' && isInteger.holds(value)) return value;
    throw refuse(value);
  });
}

export function integerOrInfinityIn(range: NumberRange): ValidateNumber {
  return numberThat(
    `an integer${describe(range)} or Infinity`,
    (value) => value === Infinity || (Number.isInteger(value) && isIn(range, value)),
  );
}

export function finiteIn(range: NumberRange): ValidateNumber {
  return numberThat(
    `a finite number${describe(range)}`,
    (value) => Number.isFinite(value) && isIn(range, value),
  );
}

export const isDurationOrAuto = validator(
  'auto, or a number >= 0 or Infinity',
  (value, refuse): number | 'auto' => {
    if (value === 'auto' || (typeof value === 'number' && value >= 0)) return value;
    throw refuse(value);
  },
);

export const isBoolean = validator('true or false', (value, refuse) => {
  if (typeof value === 'boolean') return value;
  throw refuse(value);
});

export function oneOf<const Value extends string>(...values: readonly Value[]): Validate<Value> {
  return validator(`one of ${values.join(', ')}`, (value, refuse) => {
    const match = values.find((candidate) => candidate === value);
    if (match === undefined) throw refuse(value);
    return match;
  });
}

/** NaN for a text that is no decimal number: `Number` takes `0x10`, and blank texts as 0. */
export function parseDecimal(text: string): number {
  return text.trim() === '' || /^\s*0[box]/i.test(text) || isVanishing(text) ? Number.NaN : Number(text);
}

export const isObject = /* @__PURE__ */ validator('an object', (value, refuse): object => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw refuse(value);
});

/** A text that UTF-8 can hold: half of a surrogate pair would become another character. */
export const isWholeText = /* @__PURE__ */ validator('a text', (value, refuse) => {
  if (typeof value !== 'string') throw refuse(value);
  if (!value.isWellFormed()) throw refuse('half a character');
  return value;
});

/** @throws InvalidOptionError. */
export function requireText(argument: string, called: string, got: unknown): void {
  if (typeof got !== 'string') throw wrongArgument(argument, 'a text', called, got);
}

/** @throws InvalidOptionError. */
export function requireOptions(called: string, got: unknown): void {
  if (typeof got !== 'object' || got === null)
    throw wrongArgument('options', 'an object with `worker`', called, got);
}

// Arguments of the batcher. Their errors are of the platform's classes: TypeError for the wrong type (NaN is not a number here),
// RangeError for a number out of range. The message names the option as the caller spelled it.

export const requireCount = /* @__PURE__ */ requireNumber(/* @__PURE__ */ integerIn({ from: 1 }));

export const requireCountOrInfinity = /* @__PURE__ */ requireNumber(
  /* @__PURE__ */ integerOrInfinityIn({ from: 1 }),
);

export const requireDuration = /* @__PURE__ */ requireNumber(/* @__PURE__ */ finiteIn({ from: 0 }));

/** For the result of `batchSizeFn`. Infinity fits no batch. */
export const requireSize = /* @__PURE__ */ requireNumber(
  /* @__PURE__ */ numberThat('a number >= 0', (size) => size >= 0),
);

export function requireBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidArgument(TypeError, option, 'a boolean', value);
}

/** @param called The function that it is an argument of. */
export function requireFunction<Fn>(option: string, value: Fn, called?: string): Fn {
  if (typeof value === 'function') return value;
  throw invalidArgument(TypeError, option, `a function${ofCall(called)}`, value);
}

export function requireClock(option: string, value: Clock): Clock {
  const clock = value as Partial<Clock> | null;
  if (typeof clock?.now === 'function' && typeof clock.setTimer === 'function') return value;
  throw invalidArgument(TypeError, option, 'a clock with now() and setTimer()', value);
}

export function requireObject(option: string, value: unknown, called?: string): void {
  if (typeof value === 'object' && value !== null) return;
  throw invalidArgument(TypeError, option, `an object${ofCall(called)}`, value);
}

export function requireSignal(option: string, value: unknown): void {
  if (typeof Object(value).addEventListener === 'function') return;
  throw invalidArgument(TypeError, option, 'an AbortSignal', value);
}

/** @param kind As in "Unknown option `x`: the options are …". */
export function unknownName(kind: 'option' | 'key', name: string, known: readonly string[]): TypeError {
  const others = known.length === 0 ? `there are no ${kind}s` : `the ${kind}s are ${known.join(', ')}`;
  return withCode(new TypeError(`Unknown ${kind} \`${shown(name)}\`: ${others}.`));
}

export function withCode(error: TypeError): TypeError {
  return Object.assign(error, { code: 'INVALID_OPTION' });
}

function ofCall(called: string | undefined): string {
  return called === undefined ? '' : ` for ${called}()`;
}

function requireNumber({ expected, holds }: ValidateNumber): (option: string, value: unknown) => number {
  return (option, value) => {
    if (typeof value !== 'number' || Number.isNaN(value))
      throw invalidArgument(TypeError, option, expected, value);
    if (holds(value)) return value;
    throw invalidArgument(RangeError, option, expected, value);
  };
}

function invalidArgument(
  ErrorClass: new (message: string) => TypeError,
  option: string,
  expected: string,
  got: unknown,
): TypeError {
  return withCode(new ErrorClass(describeInvalid(option, expected, got)));
}

/** @param isOther What else is expected of a value that doesn't hold. */
function numberThat(
  expected: string,
  holds: (value: number) => boolean,
  isOther: (value: number) => string | undefined = () => undefined,
): ValidateNumber {
  const validate = validator(expected, (value, refuse, option) => {
    if (typeof value !== 'number') throw refuse(value);
    if (holds(value)) return value;
    throw InvalidOptionError.of(option, isOther(value) ?? expected, value);
  });
  return Object.assign(validate, { holds });
}

function isIn({ from = -Infinity, above = -Infinity, to = Infinity }: NumberRange, value: number): boolean {
  return value >= from && value > above && value <= to;
}

function describe({ from, above, to }: NumberRange): string {
  const bounds = [
    from === undefined ? [] : `>= ${from}`,
    above === undefined ? [] : `> ${above}`,
    to === undefined ? [] : `<= ${to}`,
  ].flat();
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`;
}
