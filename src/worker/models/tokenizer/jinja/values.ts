import { allocate, spend, step } from './bounds.ts';

/** A value of a template: `int` is a bigint, `float` a number, `list` an array. */
export type Value = null | boolean | bigint | number | string | readonly Value[] | PyObject;

/** An error that Python raises too. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** Whether the template's author wrote it, with `raise_exception`. */
  readonly isRaised: boolean;

  constructor(message: string, isRaised = false) {
    super(message);
    this.isRaised = isRaised;
  }
}

/** Python renders this feature, Tabserve doesn't. */
export class UnsupportedFeature extends Error {
  override readonly name = 'UnsupportedFeature';
}

/** Any value that isn't a plain one of JavaScript. */
export abstract class PyObject {
  abstract readonly typeName: string;
  abstract repr(): string;
  /** `str(value)`. */
  text(): string {
    return this.repr();
  }
  /** Undefined where the type has no such attribute. */
  attribute(_name: string): Value | undefined {
    return undefined;
  }
  /** Undefined where there is no such item. */
  item(_key: Value): Value | undefined {
    return undefined;
  }
  /** Undefined where it cannot be iterated over. */
  iterate(): Iterable<Value> | undefined {
    return undefined;
  }
  /** Undefined where it has no length. */
  size(): number | undefined {
    return undefined;
  }
}

export class Undefined extends PyObject {
  readonly typeName = 'Undefined';
  readonly #hint: string;

  constructor(hint: string) {
    super();
    this.#hint = hint;
  }

  static named(name: string): Undefined {
    return new Undefined(`'${name}' is undefined`);
  }

  fail(): never {
    throw new TemplateError(this.#hint);
  }

  override iterate(): Iterable<Value> {
    return [];
  }

  override size(): number {
    return 0;
  }

  repr(): string {
    return 'Undefined';
  }

  override text(): string {
    return '';
  }
}

export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export class Callable extends PyObject {
  readonly typeName: string = 'function';
  readonly label: string;
  readonly call: (args: Arguments) => Value;

  constructor(label: string, call: (args: Arguments) => Value) {
    super();
    this.label = label;
    this.call = call;
  }

  /** A function with these parameters; a trailing `?` marks those that may be left out. */
  static of(label: string, params: readonly string[], run: (...args: Bound) => Value): Callable {
    return new Callable(label, (args) => run(...bind(label, params, args)));
  }

  repr(): string {
    throw new UnsupportedFeature(`the text of the function ${this.label}`);
  }
}

export type Bound = readonly (Value | undefined)[];

/** The arguments in the order of the parameters. @throws TemplateError as Python's TypeError. */
export function bind(label: string, params: readonly string[], { positional, named }: Arguments): Bound {
  if (positional.length > params.length)
    throw new TemplateError(
      `${label}() takes at most ${params.length} arguments (${positional.length} given)`,
    );
  const names = params.map((param) => param.replace('?', ''));
  for (const name of named.keys()) {
    const index = names.indexOf(name);
    if (index < 0) throw new TemplateError(`${label}() got an unexpected keyword argument '${name}'`);
    if (index < positional.length)
      throw new TemplateError(`${label}() got multiple values for argument '${name}'`);
  }
  return names.map((name, index) => {
    const given = index < positional.length ? positional[index] : named.get(name);
    if (given === undefined && !params[index]?.endsWith('?'))
      throw new TemplateError(`${label}() missing required argument: '${name}'`);
    return given;
  });
}

/** An iterator of Python: it can be walked through once, and its items are computed when they are asked for. */
export class Iter extends PyObject {
  readonly typeName: string;
  readonly #iterator: Iterator<Value>;

  constructor(items: Iterable<Value>, type = 'generator') {
    super();
    this.#iterator = items[Symbol.iterator]();
    this.typeName = type;
  }

  override iterate(): Iterable<Value> {
    const next = () => this.#iterator.next();
    return { [Symbol.iterator]: () => ({ next }) };
  }

  repr(): string {
    throw new UnsupportedFeature(`the text of a ${this.typeName}, which in Python is never the same`);
  }
}

/** As `??`, where None is a value. */
export function orElse(value: Value | undefined, fallback: () => Value): Value {
  return value === undefined ? fallback() : value;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (value instanceof PyObject) return value.typeName;
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  return typeof value === 'string' ? 'str' : 'list';
}

/** Undefined where it cannot be iterated over. */
export function iterableOf(value: Value): Iterable<Value> | undefined {
  // The iterator of a string gives its code points, as Python's does.
  if (typeof value === 'string' || isList(value)) return value;
  return value instanceof PyObject ? value.iterate() : undefined;
}

/** The items, one step for each. @throws TemplateError as Python's TypeError. */
export function* iterate(value: Value): Generator<Value> {
  const items = iterableOf(value);
  if (items === undefined) throw new TemplateError(`'${typeName(value)}' object is not iterable`);
  for (const item of items) {
    step();
    yield item;
  }
}

/** @throws TemplateError as Python's TypeError, RangeError for too many. */
export function listOf(value: Value): Value[] {
  const items: Value[] = [];
  for (const item of iterate(value)) items.push(item);
  allocate(items.length);
  return items;
}

const SURROGATE = /[\uD800-\uDBFF]/;

/** A text's characters as Python counts them. @throws RangeError where too many were read. */
export function charactersOf(text: string): string | readonly string[] {
  spend(text.length);
  return SURROGATE.test(text) ? Array.from(text) : text;
}

/** Undefined where it has no length. */
export function lengthOf(value: Value): number | undefined {
  if (typeof value === 'string') return charactersOf(value).length;
  if (isList(value)) return value.length;
  return value instanceof PyObject ? value.size() : undefined;
}

export function isTrue(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string') return value !== '';
  return value !== null && lengthOf(value) !== 0;
}
