import { spellingOf } from '../../../../batching/base/ordered-json.ts';
import { Dict } from './containers.ts';
import { PyObject, type Value } from './values.ts';

/**
 * A value of a request as Python has it. Fields that are undefined are left out. A number of JSON whose text is known is an int or a
 * float as it was written; any other whole number is an int.
 */
export function valueOf(given: unknown): Value {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string' || typeof given === 'boolean' || typeof given === 'bigint') return given;
  if (typeof given === 'number') return Number.isInteger(given) ? BigInt(given) : given;
  if (given instanceof PyObject) return given;
  if (Array.isArray(given)) return given.map((item: unknown, index) => memberOf(given, index, item));
  return new Dict(fieldsOf(given));
}

/** The fields of an object of a request, without those that are undefined. */
export function fieldsOf(given: object): (readonly [string, Value])[] {
  const fields: readonly (readonly [string, unknown])[] = Object.entries(given);
  return fields
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, memberOf(given, name, value)]);
}

function memberOf(holder: object, key: string | number, value: unknown): Value {
  const spelling = typeof value === 'number' ? spellingOf(holder, key) : undefined;
  if (spelling === undefined) return valueOf(value);
  return /[.eE]/.test(spelling) ? Number(spelling) : BigInt(spelling);
}
