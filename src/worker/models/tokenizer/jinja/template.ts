import { bounded, MAX_VALUE_SIZE } from './bounds.ts';
import { GLOBALS } from './globals.ts';
import { Interpreter } from './interpreter.ts';
import { parse } from './parse.ts';
import { Scope } from './scope.ts';
import { requireSupport } from './support.ts';
import type { Statement } from './nodes.ts';
import { spellingOf } from '../../../../batching/base/ordered-json.ts';
import { Dict } from './containers.ts';
import { PyObject, type Value } from './values.ts';

/**
 * A Jinja template as huggingface/transformers renders it. It ends: an endless loop, or a value without end, is an error.
 */
export class Template {
  readonly #body: readonly Statement[];

  /** @throws SyntaxError as Jinja2's; UnsupportedFeature; RangeError for a template of too many characters. */
  constructor(source: string) {
    if (source.length > MAX_VALUE_SIZE)
      throw new RangeError(`it has more than ${MAX_VALUE_SIZE.toLocaleString('en')} characters`);
    this.#body = parse(source);
    requireSupport(this.#body);
  }

  /**
   * Later variables replace earlier ones. They are given as they were read, since `spellingOf` knows a number by what holds it.
   *
   * @throws TemplateError for the template's own errors; UnsupportedFeature; RangeError if it takes too much.
   */
  render(...variables: readonly Readonly<Record<string, unknown>>[]): string {
    return bounded(() => {
      const context = new Map([...GLOBALS, ...variables.flatMap(fieldsOf)]);
      return new Interpreter().render(this.#body, new Scope(context).inner());
    });
  }
}

export { TemplateError, UnsupportedFeature } from './values.ts';

/**
 * A value of a request as Python has it. Fields that are undefined are left out. A number of JSON whose text is known is an int or a
 * float as it was written; any other whole number is an int.
 */
function valueOf(given: unknown): Value {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string' || typeof given === 'boolean' || typeof given === 'bigint') return given;
  if (typeof given === 'number') return Number.isInteger(given) ? BigInt(given) : given;
  if (given instanceof PyObject) return given;
  if (Array.isArray(given)) return given.map((item: unknown, index) => memberOf(given, index, item));
  return new Dict(fieldsOf(given));
}

/** The fields of an object of a request, without those that are undefined. */
function fieldsOf(given: object): (readonly [string, Value])[] {
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
