import { allocate, spend } from './bounds.ts';
import { equals, textOf } from './compare.ts';
import { Range, Tuple } from './containers.ts';
import { formatText } from './format.ts';
import { Markup } from './markup.ts';
import { integer } from './numbers.ts';
import { str } from './print.ts';
import { textMethod } from './text-methods.ts';
import {
  Callable,
  PyObject,
  TemplateError,
  Undefined,
  UnsupportedFeature,
  bind,
  charactersOf,
  isList,
  listOf,
  orElse,
  type Arguments,
  type Value,
  typeName,
} from './values.ts';

const names = (list: string) => new Set(list.split(' '));

/** Methods of Python's types that aren't computed here. Jinja2's sandbox refuses those that change a value too. */
const UNSUPPORTED: Readonly<Record<string, ReadonlySet<string>>> = {
  str: names('casefold encode format_map isidentifier isprintable istitle maketrans translate'),
  int: names(
    'as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer numerator real to_bytes',
  ),
  bool: names(
    'as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer numerator real to_bytes',
  ),
  float: names('as_integer_ratio conjugate fromhex hex imag is_integer real from_number'),
  dict_items: names('isdisjoint mapping'),
  dict_keys: names('isdisjoint mapping'),
  dict_values: names('mapping'),
  range: names('count index start stop step'),
  generator: names('close send throw gi_code gi_frame gi_running gi_suspended gi_yieldfrom'),
};
const UNSAFE: Readonly<Record<string, ReadonlySet<string>>> = {
  list: names('append clear extend insert pop remove reverse sort'),
  dict: names('clear pop popitem setdefault update'),
};

/** Attributes of every Python mapping: they hide an item of the same name. */
const INTERNAL = names(
  '__class__ __class_getitem__ __contains__ __delattr__ __delitem__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getitem__ __getstate__ __gt__ __hash__ __init__ __init_subclass__ __ior__ __iter__ __le__ __len__ __lt__ __ne__ __new__ __or__ __reduce__ __reduce_ex__ __repr__ __reversed__ __ror__ __setattr__ __setitem__ __sizeof__ __str__ __subclasshook__',
);

/** Methods that no type of Python computes here, by name. */
export const UNSUPPORTED_METHODS: ReadonlySet<string> = new Set(
  Object.values(UNSUPPORTED).flatMap((set) =>
    [...set].filter((name) => name !== 'count' && name !== 'index'),
  ),
);

/** `value.name`: an attribute comes before an item. @throws TemplateError of an undefined value. */
export function memberOf(value: Value, name: string): Value {
  return orElse(attributeOf(value, name), () => orElse(itemOf(value, name), () => missing(value, name)));
}

/** `value[key]`: an item comes before an attribute. @throws TemplateError of an undefined value. */
export function subscript(value: Value, key: Value): Value {
  return orElse(itemOf(value, key), () => {
    const name = textOf(key);
    return orElse(name === undefined ? undefined : attributeOf(value, name), () => missing(value, key));
  });
}

function missing(value: Value, key: Value): Undefined {
  const owner = value === null ? 'None' : `'${typeName(value)} object'`;
  const name = textOf(key);
  return new Undefined(
    name === undefined
      ? `${owner.replaceAll("'", '')} has no element ${String(typeof key === 'bigint' ? key : typeName(key))}`
      : `${owner} has no attribute '${name}'`,
  );
}

/** Undefined where the type has no such attribute. */
export function attributeOf(value: Value, name: string): Value | undefined {
  if (value instanceof Undefined) return name.startsWith('__') ? undefined : value.fail();
  const type = typeName(value);
  if (INTERNAL.has(name) || UNSAFE[type]?.has(name))
    return new Undefined(`access to attribute '${name}' of '${type}' object is unsafe.`);
  if (UNSUPPORTED[type === 'Markup' ? 'str' : type]?.has(name))
    throw new UnsupportedFeature(`the attribute ${name} of ${type}`);
  if (typeof value === 'string') return methodOf(value, name);
  if (value instanceof Markup) return markupMethod(value, name);
  if (isList(value)) return listMethod(value, name);
  if (value instanceof Tuple)
    return value.attribute(name) ?? (name === 'copy' ? undefined : listMethod(value.items, name));
  return value instanceof PyObject ? value.attribute(name) : undefined;
}

/** Counts the texts that a method or a filter reads. @throws RangeError for too many characters. */
export function spendTexts(values: Iterable<Value>): void {
  for (const value of values) spend(textOf(value)?.length ?? 0);
}

function methodOf(text: string, name: string): Callable | undefined {
  if (name === 'format') return new Callable(name, (args) => formatText(text, args, follow));
  const method = textMethod(name);
  return (
    method &&
    new Callable(name, (args) => {
      spendTexts([text, ...args.positional, ...args.named.values()]);
      return method.run(text, bind(name, method.params, args));
    })
  );
}

function escape(value: Value): Value {
  return typeof value === 'string' ? Markup.escape(value) : value;
}

/** A method's result for a marked text is marked too, and other texts that it inserts are escaped. */
function markupMethod(value: Markup, name: string): Callable | undefined {
  const method = methodOf(value.text(), name);
  const mark = (result: Value): Value => {
    if (typeof result === 'string') return new Markup(result);
    return isList(result)
      ? result.map(mark)
      : result instanceof Tuple
        ? new Tuple(result.items.map(mark))
        : result;
  };
  const isPutIn = ['format', 'join', 'replace'].includes(name);
  if (!method || !isPutIn) return method && new Callable(name, (args) => mark(method.call(args)));
  return new Callable(name, ({ positional, named }) => {
    const given: Arguments = {
      positional: positional.map((arg, i) => {
        if (name === 'join') return listOf(arg).map(escape);
        return name === 'replace' && i === 0 ? arg : escape(arg);
      }),
      named: new Map([...named].map(([key, arg]) => [key, escape(arg)])),
    };
    return mark(method.call(given));
  });
}

function listMethod(items: readonly Value[], name: string): Callable | undefined {
  switch (name) {
    case 'index':
      return Callable.of(name, ['value', 'start?', 'stop?'], (value = null, start, stop) => {
        const [from, to] = [integer(start, 0), integer(stop, items.length)];
        const place = (index: number) => (index < 0 ? Math.max(0, index + items.length) : index);
        const index = items.findIndex((item, i) => i >= place(from) && i < place(to) && equals(item, value));
        if (index < 0) throw new TemplateError('the value is not in list');
        return BigInt(index);
      });
    case 'count':
      return Callable.of(name, ['value'], (value = null) =>
        BigInt(items.filter((item) => equals(item, value)).length),
      );
    case 'copy':
      return Callable.of(name, [], () => items);
    default:
      return undefined;
  }
}

/** Undefined where there is no such item. */
function itemOf(value: Value, key: Value): Value | undefined {
  if (value instanceof Undefined) return value.fail();
  if (key instanceof Slice) return sliceOf(value, key);
  if (value instanceof Range && (typeof key === 'bigint' || typeof key === 'boolean'))
    return value.at(integer(key));
  const items = sequenceOf(value);
  if (items === undefined) return value instanceof PyObject ? value.item(key) : undefined;
  if (typeof key !== 'bigint' && typeof key !== 'boolean') return undefined;
  const item = items.at(integer(key));
  const index = integer(key);
  if (index >= items.length || index < -items.length) return undefined;
  return value instanceof Markup && typeof item === 'string' ? new Markup(item) : item;
}

function sequenceOf(value: Value): string | readonly Value[] | undefined {
  const text = textOf(value);
  if (text !== undefined) return charactersOf(text);
  if (isList(value)) return value;
  if (value instanceof Tuple) return value.items;
  if (!(value instanceof Range)) return undefined;
  spend(value.size());
  return [...value.iterate()];
}

/** `start:stop:step` in brackets. */
export class Slice extends PyObject {
  readonly typeName = 'slice';
  readonly bounds: readonly (number | undefined)[];

  constructor(bounds: readonly (Value | undefined)[]) {
    super();
    this.bounds = bounds.map((bound = null) => (bound === null ? undefined : integer(bound)));
  }

  repr(): string {
    return 'slice';
  }
}

/** @throws TemplateError for what has no parts, where another key would give an undefined value. */
function sliceOf(value: Value, { bounds: [start, stop, step = 1] }: Slice): Value {
  const items = sequenceOf(value);
  if (items === undefined) throw new TemplateError(`'${typeName(value)}' object is not subscriptable`);
  if (step === 0) throw new TemplateError('slice step cannot be zero');
  const { length } = items;
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const clamp = (index: number) => Math.min(high, Math.max(low, index < 0 ? index + length : index));
  const from = start === undefined ? (step > 0 ? 0 : length - 1) : clamp(start);
  const to = stop === undefined ? (step > 0 ? length : -1) : clamp(stop);
  if (step === 1 && typeof items === 'string') return marked(value, items.slice(from, Math.max(from, to)));
  if (value instanceof Range) return value.slice(from, to, step);
  allocate(Math.max(0, Math.ceil((to - from) / step)));
  const picked: Value[] = [];
  for (let i = from; step > 0 ? i < to : i > to; i += step) picked.push(items[i] ?? null);
  if (textOf(value) !== undefined) return marked(value, picked.map(str).join(''));
  return value instanceof Tuple ? new Tuple(picked) : picked;
}

function marked(value: Value, text: string): Value {
  return value instanceof Markup ? new Markup(text) : text;
}

/** `.name` and `[key]` in the fields of `format()`. */
function follow(value: Value, path: string): Value {
  let result = value;
  for (const [, name, key] of path.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g)) {
    const item = /^\d+$/.test(key ?? '') ? BigInt(key ?? 0) : (key ?? '');
    result = name === undefined ? subscript(result, item) : memberOf(result, name);
  }
  return result;
}
