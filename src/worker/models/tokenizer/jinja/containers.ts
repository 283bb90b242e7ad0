import { MAX_VALUE_SIZE, spend } from './bounds.ts';
import { repr } from './print.ts';
import { Callable, PyObject, TemplateError, isList, listOf, orElse, type Value, typeName } from './values.ts';

export class Tuple extends PyObject {
  readonly typeName: string = 'tuple';
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  override iterate(): Iterable<Value> {
    return this.items;
  }

  override size(): number {
    return this.items.length;
  }

  repr(): string {
    const texts = this.items.map(repr);
    return texts.length === 1 ? `(${texts[0]},)` : `(${texts.join(', ')})`;
  }
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** Equal keys of a dict have the same: 1, 1.0 and True are one key. @throws TemplateError for a list or a dict. */
function keyOf(value: Value): string {
  if (typeof value === 'string') return textKey(value);
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'n1' : 'n0';
  if (typeof value === 'bigint') return `n${value}`;
  if (typeof value === 'number') return `n${Number.isInteger(value) ? BigInt(value) : value}`;
  if (value instanceof Tuple) return `t${JSON.stringify(value.items.map(keyOf))}`;
  if (isList(value) || value instanceof Dict)
    throw new TemplateError(`unhashable type: '${typeName(value)}'`);
  if (value.typeName === 'Undefined') return 'undefined';
  if (value.typeName === 'Markup') return textKey(value.text());
  const id = ids.get(value) ?? (lastId += 1);
  ids.set(value, id);
  return `o${id}`;
}

function textKey(text: string): string {
  spend(text.length);
  return `s${text}`;
}

/** A set of values, where only membership counts. */
export class ValueSet {
  readonly #keys = new Set<string>();

  /** Whether it is new. @throws TemplateError for a list or a dict. */
  add(value: Value): boolean {
    const { size } = this.#keys;
    return this.#keys.add(keyOf(value)).size > size;
  }
}

export class Dict extends PyObject {
  readonly typeName = 'dict';
  readonly #entries: ReadonlyMap<string, readonly [Value, Value]>;

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super();
    const map = new Map<string, readonly [Value, Value]>();
    for (const [key, value] of entries) {
      const hash = keyOf(key);
      // The first of equal keys stays.
      map.set(hash, [map.get(hash)?.[0] ?? key, value]);
    }
    this.#entries = map;
  }

  get entries(): Iterable<readonly [Value, Value]> {
    return this.#entries.values();
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1];
  }

  override item(key: Value): Value | undefined {
    return isList(key) || key instanceof Dict ? undefined : this.get(key);
  }

  *keys(): Generator<Value> {
    for (const [key] of this.entries) yield key;
  }

  override iterate(): Iterable<Value> {
    return this.keys();
  }

  override size(): number {
    return this.#entries.size;
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'get':
        return Callable.of('get', ['key', 'default?'], (key = null, fallback = null) =>
          orElse(this.get(key), () => fallback),
        );
      case 'items':
      case 'keys':
      case 'values':
        return Callable.of(name, [], () => new View(this, name));
      case 'copy':
        return Callable.of('copy', [], () => this);
      case 'fromkeys':
        return FROM_KEYS;
      default:
        return undefined;
    }
  }

  repr(): string {
    return `{${[...this.entries].map(([key, value]) => `${repr(key)}: ${repr(value)}`).join(', ')}}`;
  }
}

export const FROM_KEYS = Callable.of(
  'fromkeys',
  ['iterable', 'value?'],
  (keys = null, value = null) => new Dict(listOf(keys).map((key) => [key, value])),
);

/** `items()`, `keys()` and `values()` of a dict. */
export class View extends PyObject {
  readonly typeName: string;
  readonly dict: Dict;
  readonly #kind: 'items' | 'keys' | 'values';

  constructor(dict: Dict, kind: 'items' | 'keys' | 'values') {
    super();
    this.dict = dict;
    this.#kind = kind;
    this.typeName = `dict_${kind}`;
  }

  override *iterate(): Generator<Value> {
    for (const [key, value] of this.dict.entries) {
      if (this.#kind === 'items') yield new Tuple([key, value]);
      else yield this.#kind === 'keys' ? key : value;
    }
  }

  override size(): number {
    return this.dict.size();
  }

  repr(): string {
    return `${this.typeName}(${repr([...this.iterate()])})`;
  }
}

export class Range extends PyObject {
  readonly typeName = 'range';
  readonly start: bigint;
  readonly stop: bigint;
  readonly by: bigint;
  readonly #length: number;

  constructor(start: bigint, stop: bigint, by: bigint) {
    super();
    if (by === 0n) throw new TemplateError('range() arg 3 must not be zero');
    const distance = by > 0n ? stop - start : start - stop;
    const pace = by > 0n ? by : -by;
    const length = distance > 0n ? (distance + pace - 1n) / pace : 0n;
    // As Jinja2's sandbox has it.
    if (length > 100_000n)
      throw new TemplateError('Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).');
    this.start = start;
    this.stop = stop;
    this.by = by;
    this.#length = Number(length);
  }

  override *iterate(): Generator<Value> {
    for (let i = 0; i < this.#length; i += 1) yield this.start + BigInt(i) * this.by;
  }

  override size(): number {
    return this.#length;
  }

  /** Undefined for a place outside of it. */
  at(place: number): bigint | undefined {
    const index = place < 0 ? place + this.#length : place;
    return index >= 0 && index < this.#length ? this.start + BigInt(index) * this.by : undefined;
  }

  /** From the item at one place up to that at another. */
  slice(from: number, to: number, step: number): Range {
    const at = (place: number) => this.start + BigInt(place) * this.by;
    return new Range(at(from), at(to), this.by * BigInt(step));
  }

  repr(): string {
    const by = this.by === 1n ? '' : `, ${this.by}`;
    return `range(${this.start}, ${this.stop}${by})`;
  }
}

export class Namespace extends PyObject {
  readonly typeName = 'TemplateNamespace';
  readonly #values = new Map<string, Value>();

  override attribute(name: string): Value | undefined {
    return this.#values.get(name);
  }

  set(name: string, value: Value): void {
    if (name.startsWith('_'))
      throw new TemplateError(
        `Chat templates cannot store underscore-prefixed attributes on a namespace, but got '${name}'. Please rename the attribute.`,
      );
    if (this.#values.size >= MAX_VALUE_SIZE) throw new RangeError('it has too many variables');
    this.#values.set(name, value);
  }

  repr(): string {
    return `<Namespace ${new Dict(this.#values).repr()}>`;
  }
}
