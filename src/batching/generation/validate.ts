import { InvalidOptionError, UnknownOptionError } from '../errors.ts';

/** Returns the value, now typed, or throws `InvalidOptionError` naming the option. */
export type Validate<Value> = (option: string, value: unknown) => Value;

/** One validator per option: the table is also the list of options that exist. */
export type Validators<Options> = { readonly [Option in keyof Options]-?: Validate<Options[Option]> };

/** `from` and `to` belong to the range, `above` does not; a bound left out does not bind. */
export interface Range {
  readonly from?: number;
  readonly above?: number;
  readonly to?: number;
}

export function integerIn(range: Range): Validate<number> {
  return numberThat(`an integer${describe(range)}`, (value) => Number.isInteger(value) && isIn(range, value));
}

export function integerOrInfinityIn(range: Range): Validate<number> {
  return numberThat(
    `an integer${describe(range)} or Infinity`,
    (value) => value === Infinity || (Number.isInteger(value) && isIn(range, value)),
  );
}

export function finiteIn(range: Range): Validate<number> {
  return numberThat(
    `a finite number${describe(range)}`,
    (value) => Number.isFinite(value) && isIn(range, value),
  );
}

export const isBoolean: Validate<boolean> = (option, value) => {
  if (typeof value === 'boolean') return value;
  throw InvalidOptionError.of(option, 'true or false', value);
};

export function oneOf<const Value extends string>(...values: readonly Value[]): Validate<Value> {
  return (option, value) => {
    const match = values.find((candidate) => candidate === value);
    if (match === undefined) throw InvalidOptionError.of(option, `one of ${values.join(', ')}`, value);
    return match;
  };
}

/** Undefined passes too. */
export function optional<Value>(validate: Validate<Value>): Validate<Value | undefined> {
  return (option, value) => (value === undefined ? undefined : validate(option, value));
}

/**
 * Checks an options object that comes from outside against its table of validators: an unknown key is
 * an `UnknownOptionError`, a bad value an `InvalidOptionError`; what is left out stays left out.
 */
export function parseOptions<Options extends object>(
  name: string,
  validators: Validators<Options>,
  options: unknown,
): Partial<Options> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw InvalidOptionError.of(name, 'an object', options);
  }
  const table = validators as Readonly<Record<string, Validate<unknown>>>;
  const parsed = Object.entries(options).map(([option, value]) => {
    const validate = Object.hasOwn(table, option) ? table[option] : undefined;
    if (!validate) throw UnknownOptionError.of(option, Object.keys(table));
    return [option, validate(option, value)] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each entry has passed its own validator
  return Object.fromEntries(parsed) as Partial<Options>;
}

function numberThat(expected: string, holds: (value: number) => boolean): Validate<number> {
  return (option, value) => {
    if (typeof value === 'number' && holds(value)) return value;
    throw InvalidOptionError.of(option, expected, value);
  };
}

function isIn({ from = -Infinity, above = -Infinity, to = Infinity }: Range, value: number): boolean {
  return value >= from && value > above && value <= to;
}

function describe({ from, above, to }: Range): string {
  const bounds = [
    from === undefined ? [] : `>= ${from}`,
    above === undefined ? [] : `> ${above}`,
    to === undefined ? [] : `<= ${to}`,
  ].flat();
  return bounds.length === 0 ? '' : ` ${bounds.join(' and ')}`;
}
