import { UnknownOptionError } from './errors.ts';
import { describeKnown } from './nearest-name.ts';

/** @param known All options that there are. */
export function unknownOption(option: string, known: readonly string[]): UnknownOptionError {
  return UnknownOptionError.of(option, describeKnown(option, known));
}
