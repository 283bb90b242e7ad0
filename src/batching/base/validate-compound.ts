import { InvalidOptionError } from './errors.ts';
import { parseOrderedJson, writeOrderedJson } from './ordered-json.ts';
import { integerIn, validator, type NumberRange, type Validate } from './validate.ts';

// Lists and records. The page checks numbers at its start, and these once an option is typed.

export interface ListBounds {
  readonly maxItems: number;
}

/** In UTF-16 code units, as JavaScript counts. */
export interface TextBounds {
  readonly maxLength: number;
}

export type StringBounds = ListBounds & TextBounds;

/** Values that JSON can write, by name. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function stringsIn({ maxItems, maxLength }: StringBounds): Validate<string | readonly string[]> {
  const expected = `a string of 1 to ${maxLength} characters, or a list of at most ${maxItems} of them`;
  return validator(expected, (value, refuse) => {
    const check = (entry: unknown): string => {
      if (typeof entry !== 'string') throw refuse(entry);
      if (entry === '') throw refuse('an empty string');
      if (entry.length > maxLength) throw refuse(`${entry.length} characters`);
      // Half a surrogate pair would match inside a character and leave the other half behind.
      if (!entry.isWellFormed()) throw refuse('half a character');
      return entry;
    };
    if (!Array.isArray(value)) return check(value);
    if (value.length > maxItems) throw refuse(`${value.length} strings`);
    return value.map(check);
  });
}

export function tokenIdsIn({ maxItems, ...range }: ListBounds & NumberRange): Validate<readonly number[]> {
  const isTokenId = integerIn({ from: 0, ...range });
  return validator(`a list of at most ${maxItems} token ids`, (value, refuse, option) => {
    if (!Array.isArray(value) || value.length > maxItems) throw refuse(value);
    return value.map((tokenId, index) => isTokenId(`${option}[${index}]`, tokenId));
  });
}

/** @param bounds Of the record as JSON. */
export function jsonRecordIn({ maxLength }: TextBounds): Validate<JsonRecord> {
  return validator(`a record of at most ${maxLength} characters of JSON`, (value, refuse, option) => {
    const json = jsonOf(value);
    if (json === undefined || !json.startsWith('{')) throw refuse(value);
    if (json.length > maxLength) throw refuse(`${json.length} characters`);
    if (isDeeper(json, MAX_RECORD_DEPTH)) throw refuse(`parts more than ${MAX_RECORD_DEPTH} levels deep`);
    // Values that JSON leaves out, such as undefined, are left out here.
    const record: object = Object(parseOrderedJson(json));
    const half = halfIn(record, option);
    if (half !== undefined) throw InvalidOptionError.of(half, 'a text', 'half a character');
    return Object(record);
  });
}

/** The place of a text that UTF-8 can't hold. @param value At most `MAX_RECORD_DEPTH` levels deep. */
function halfIn(value: unknown, place: string): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : place;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `.${name}`;
    const found = name.isWellFormed() ? halfIn(part, place + step) : place;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Browsers drop a message without a word if reading it takes more stack than a worker has: that of some 1,000 levels. */
const MAX_RECORD_DEPTH = 200;

/** @param json Valid. */
function isDeeper(json: string, maxDepth: number): boolean {
  let depth = 0;
  for (const [mark] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[{}\]]/g)) {
    if (mark === '{' || mark === '[') depth += 1;
    if (mark === '}' || mark === ']') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Undefined for a value without a JSON form: a cycle, a bigint. */
function jsonOf(value: unknown): string | undefined {
  try {
    return writeOrderedJson(value);
  } catch {
    return undefined;
  }
}
