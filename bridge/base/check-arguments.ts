import { wrongArgument } from '../../src/batching/base/errors.ts';
import { parseOptions } from '../../src/batching/base/parse-options.ts';
import { validator, type Validate, type Validators } from '../../src/batching/base/validate.ts';

/**
 * As `parseOptions`, for the options of a public function.
 *
 * @param required Those that have no default.
 * @throws InvalidOptionError, UnknownOptionError.
 */
export function optionsOf<Options extends object>(
  called: string,
  validators: Validators<Options>,
  required: readonly (keyof Options & string)[],
  options: unknown,
): Options {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw wrongArgument('options', `an object with ${required.join(', ')}`, called, options);
  const given = parseOptions('options', validators, options);
  for (const name of required) validators[name](name, given[name]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the required ones have passed their validators, too
  return given as Options;
}

/** @throws InvalidOptionError for a value without the method, by which it is known: it may be of another copy of its class. */
export function requireMethod(
  argument: string,
  value: unknown,
  method: string,
  expected: string,
  called: string,
): void {
  if (!hasMethod(value, method)) throw wrongArgument(argument, expected, called, value);
}

export function hasMethod(value: unknown, method: string): boolean {
  return typeof Object(value)[method] === 'function';
}

/** @param holds Whether a value is what is expected. */
export function valueThat<Value>(expected: string, holds: (value: unknown) => boolean): Validate<Value> {
  return validator(expected, (value, refuse) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is what `holds` tells
    if (holds(value)) return value as Value;
    throw refuse(value);
  });
}

export const isText: Validate<string> = valueThat('a text', (value) => typeof value === 'string');

/** An empty host would mean all interfaces. */
export const isHost: Validate<string> = valueThat(
  'a name or an address',
  (value) => typeof value === 'string' && value !== '',
);

export const isFunction: Validate<never> = valueThat('a function', (value) => typeof value === 'function');

export const areOrigins: Validate<readonly string[]> = valueThat(
  'a list of origins, such as https://app.example',
  (value) =>
    Array.isArray(value) && value.every((origin) => typeof origin === 'string' && URL.canParse(origin)),
);
