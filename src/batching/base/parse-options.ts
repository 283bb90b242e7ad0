import { InvalidOptionError } from './errors.ts';
import { unknownOption } from './unknown-option-error.ts';
import type { Validate, Validators } from './validate.ts';

/** The options that are there. None of them is undefined. */
type Given<Options> = { readonly [Option in keyof Options]?: Exclude<Options[Option], undefined> };

/**
 * Checks an options object that comes from outside against its table of validators: an unknown key is
 * an `UnknownOptionError`, a bad value an `InvalidOptionError`; what is left out, or undefined, stays left out.
 */
export function parseOptions<Options extends object>(
  name: string,
  validators: Validators<Options>,
  options: unknown,
): Given<Options> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw InvalidOptionError.of(name, 'an object', options);
  }
  const table = validators as Readonly<Record<string, Validate<unknown>>>;
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const parsed = given.map(([option, value]) => {
    const validate = Object.hasOwn(table, option) ? table[option] : undefined;
    if (!validate) throw unknownOption(option, Object.keys(table));
    return [option, validate(option, value)] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each entry has passed its own validator
  return Object.fromEntries(parsed) as Given<Options>;
}
