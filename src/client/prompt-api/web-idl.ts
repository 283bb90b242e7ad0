// Conversions of JavaScript values to Web IDL types: https://webidl.spec.whatwg.org/

type Dictionary = Readonly<Record<string, unknown>>;

/** @throws TypeError for a value that isn't an object. */
export function toDictionary(place: string, value: unknown): Dictionary {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object')
    throw new TypeError(`\`${place}\` has to be an object, got ${typeof value}.`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any object has properties
  return value as Dictionary;
}

/** @throws TypeError for a value that is not one of them. */
export function toEnum<Value extends string>(place: string, value: unknown, values: readonly Value[]): Value {
  const known = values.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw new TypeError(`\`${place}\` has to be one of ${values.join(', ')}, got ${toText(value)}.`);
}

/** @throws TypeError for a value that is not iterable. */
export function toSequence(place: string, value: unknown): readonly unknown[] {
  if (isIterable(value)) return [...value];
  throw new TypeError(`\`${place}\` has to be a list, got ${toText(value)}.`);
}

export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

/** Converts any value to a text. */
export function toText(value: unknown): string {
  return String(value);
}

/** @throws TypeError for a value that isn't an AbortSignal. */
export function toSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw new TypeError(`\`signal\` has to be an AbortSignal, got ${toText(value)}.`);
}
