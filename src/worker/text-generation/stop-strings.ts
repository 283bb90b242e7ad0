import { InvalidOptionError } from '../../batching/errors.ts';

const MAX_STOP_STRINGS = 16;
/** In UTF-16 code units, as JavaScript counts. */
const MAX_LENGTH = 256;

const EXPECTED = `a string of 1 to ${MAX_LENGTH} characters, or a list of at most ${MAX_STOP_STRINGS} of them`;

/** One string or several, as a list. @throws InvalidOptionError for anything else. */
export function stopStrings(option: string, value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (given.length > MAX_STOP_STRINGS)
    throw InvalidOptionError.of(option, EXPECTED, `${given.length} strings`);
  return given.map((entry) => {
    if (typeof entry !== 'string') throw InvalidOptionError.of(option, EXPECTED, entry);
    if (entry === '') throw InvalidOptionError.of(option, EXPECTED, 'an empty string');
    if (entry.length > MAX_LENGTH)
      throw InvalidOptionError.of(option, EXPECTED, `${entry.length} characters`);
    // Half a surrogate pair would match inside a character and leave the other half behind.
    if (!entry.isWellFormed()) throw InvalidOptionError.of(option, EXPECTED, 'half a character');
    return entry;
  });
}
