import { shown, UnknownOptionError, withoutIndex } from './errors.ts';
import { describeKnown } from './nearest-name.ts';

/** @param known All options that there are. */
export function unknownOption(option: string, known: readonly string[]): UnknownOptionError {
  return new UnknownOptionError(
    `Unknown option \`${shown(option)}\`: ${describeKnown(option, known)}.`,
    withoutIndex(option),
  );
}
