import { allocate } from './bounds.ts';
import { binary } from './arithmetic.ts';
import { equals, order, sorted, textOf } from './compare.ts';
import { Dict, Range, Tuple, ValueSet, View } from './containers.ts';
import type { Calls, Filter } from './filter.ts';
import { subscript } from './members.ts';
import { integer } from './numbers.ts';
import { str } from './print.ts';
import {
  isTrue,
  Iter,
  iterate,
  listOf,
  TemplateError,
  typeName,
  Undefined,
  type Arguments,
  type Value,
} from './values.ts';

/** Gets `a.b.0` of an item; the item itself where no attribute is named. */
function getter(attribute: Value, fallback: Value = null): (item: Value) => Value {
  const path = textOf(attribute)?.split('.') ?? (attribute === null ? [] : [attribute]);
  const parts = path.map((part) =>
    typeof part === 'string' && /^\p{Nd}+$/u.test(part) ? BigInt(part) : part,
  );
  return (item) =>
    parts.reduce((value: Value, part) => {
      const inner = subscript(value, part);
      return fallback !== null && inner instanceof Undefined ? fallback : inner;
    }, item);
}

function ignoreCase(value: Value): Value {
  return textOf(value)?.toLowerCase() ?? value;
}

function keyBy(attribute: Value, isCaseSensitive: Value, fallback?: Value): (item: Value) => Value {
  const get = getter(attribute, fallback);
  return isTrue(isCaseSensitive) ? get : (item) => ignoreCase(get(item));
}

const extreme = (sign: 1 | -1, label: string): Filter => ({
  params: ['case_sensitive?', 'attribute?'],
  run(value, [isCaseSensitive = false, attribute = null]) {
    const keyOf = keyBy(attribute, isCaseSensitive);
    let best: { readonly item: Value; readonly key: Value } | undefined;
    for (const item of iterate(value)) {
      const key = keyOf(item);
      if (!best || sign * order(key, best.key, sign < 0 ? '>' : '<') < 0) best = { item, key };
    }
    return best ? best.item : new Undefined(`No ${label} item, sequence was empty.`);
  },
});

/** The items that pass, or fail, a test of themselves or of an attribute. */
const selecting = (isKept: boolean, hasAttribute: boolean): Filter => ({
  params: undefined,
  run: (value, _, given, calls) => new Iter(select(value, given, calls, isKept, hasAttribute)),
});

function* select(
  value: Value,
  { positional, named }: Arguments,
  calls: Calls,
  isKept: boolean,
  hasAttribute: boolean,
): Generator<Value> {
  if (!isTrue(value)) return;
  const [attribute, ...others] = positional;
  if (hasAttribute && attribute === undefined)
    throw new TemplateError('Missing parameter for attribute name');
  const get = getter(hasAttribute ? (attribute ?? null) : null);
  const [test, ...args] = hasAttribute ? others : positional;
  for (const item of iterate(value)) {
    const tested = get(item);
    const passes =
      test === undefined ? isTrue(tested) : calls.test(str(test), tested, { positional: args, named });
    if (passes === isKept) yield item;
  }
}

function* mapped(value: Value, { positional, named }: Arguments, calls: Calls): Generator<Value> {
  if (!isTrue(value)) return;
  const [name, ...args] = positional;
  const attribute = named.get('attribute');
  if (name === undefined && attribute === undefined)
    throw new TemplateError('map requires a filter argument');
  const get = getter(attribute ?? null, named.get('default'));
  if (name === undefined) {
    const odd = [...named.keys()].find((key) => key !== 'attribute' && key !== 'default');
    if (odd !== undefined) throw new TemplateError(`Unexpected keyword argument '${odd}'`);
  }
  for (const item of iterate(value))
    yield name === undefined ? get(item) : calls.filter(str(name), item, { positional: args, named });
}

function* batches(value: Value, size: number, fill: Value): Generator<Value> {
  let batch: Value[] = [];
  for (const item of iterate(value)) {
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
    batch.push(item);
  }
  if (batch.length > 0) yield padded(batch, fill === null ? 0 : size, fill);
}

function padded(items: readonly Value[], size: number, fill: Value): readonly Value[] {
  allocate(size);
  return [...items, ...Array.from({ length: Math.max(0, size - items.length) }, () => fill)];
}

function* slices(value: Value, numSlices: number, fill: Value): Generator<Value> {
  const items = listOf(value);
  if (numSlices === 0) throw new TemplateError('integer division or modulo by zero');
  const size = Math.floor(items.length / numSlices);
  const numLonger = items.length % numSlices;
  let start = 0;
  for (let i = 0; i < numSlices; i += 1) {
    const end = start + size + (i < numLonger ? 1 : 0);
    const slice = items.slice(start, end);
    yield fill !== null && i >= numLonger ? [...slice, fill] : slice;
    start = end;
  }
}

function* uniqueItems(value: Value, keyOf: (item: Value) => Value): Generator<Value> {
  const seen = new ValueSet();
  for (const item of iterate(value)) if (seen.add(keyOf(item))) yield item;
}

/** A group of `groupby`: a pair whose parts have names. */
class Group extends Tuple {
  override attribute(name: string): Value | undefined {
    if (name === 'grouper') return this.items[0];
    return name === 'list' ? this.items[1] : undefined;
  }
}

function reversed(value: Value): Value {
  const text = textOf(value);
  if (text !== undefined) return Array.from(text).toReversed().join('');
  return new Iter(listOf(value).toReversed(), `${typeName(value)}_reverseiterator`);
}

const sum: Filter = {
  params: ['attribute?', 'start?'],
  run(value, [attribute = null, start = 0n]) {
    const get = getter(attribute);
    if (textOf(start) !== undefined) throw new TemplateError("sum() can't sum strings");
    let total = start;
    for (const item of iterate(value)) total = binary('+', total, get(item));
    return total;
  },
};

export const LIST_FILTERS: Readonly<Record<string, Filter>> = {
  batch: {
    params: ['linecount', 'fill_with?'],
    run: (value, [size, fill = null]) => new Iter(batches(value, integer(size), fill)),
  },
  dictsort: {
    params: ['case_sensitive?', 'by?', 'reverse?'],
    run(value, [isCaseSensitive = false, by = 'key', isReversed = false]) {
      if (value instanceof Undefined) value.fail();
      if (!(value instanceof Dict))
        throw new TemplateError(`'${typeName(value)}' object has no attribute 'items'`);
      if (by !== 'key' && by !== 'value')
        throw new TemplateError('You can only sort by either "key" or "value"');
      const index = by === 'key' ? 0 : 1;
      const keyOf = (pair: readonly [Value, Value]) =>
        isTrue(isCaseSensitive) ? pair[index] : ignoreCase(pair[index]);
      return sorted([...value.entries], keyOf, isTrue(isReversed)).map((pair) => new Tuple(pair));
    },
  },
  first: {
    params: [],
    run(value) {
      for (const item of iterate(value)) return item;
      return new Undefined('No first item, sequence was empty.');
    },
  },
  groupby: {
    params: ['attribute', 'default?', 'case_sensitive?'],
    run(value, [attribute = null, fallback = null, isCaseSensitive = false]) {
      const keyOf = keyBy(attribute, isCaseSensitive, fallback);
      const groups: { readonly key: Value; readonly items: Value[] }[] = [];
      for (const item of sorted(listOf(value), keyOf)) {
        const key = keyOf(item);
        const last = groups.at(-1);
        if (last && equals(last.key, key)) last.items.push(item);
        else groups.push({ key, items: [item] });
      }
      const label = getter(attribute, fallback);
      return groups.map(({ items }) => new Group([label(items[0] ?? null), items]));
    },
  },
  items: {
    params: [],
    run(value) {
      if (value instanceof Undefined) return new Iter([]);
      if (value instanceof Dict) return new Iter(new View(value, 'items').iterate());
      throw new TemplateError('Can only get item pairs from a mapping.');
    },
  },
  join: {
    params: ['d?', 'attribute?'],
    run(value, [separator = '', attribute = null]) {
      const get = getter(attribute);
      const parts: string[] = [];
      for (const item of iterate(value)) {
        const part = str(get(item));
        allocate(part.length + str(separator).length);
        parts.push(part);
      }
      return parts.join(str(separator));
    },
  },
  last: {
    params: [],
    run(value) {
      if (value instanceof Iter) throw new TemplateError(`'${typeName(value)}' object is not reversible`);
      return listOf(value).at(-1) ?? lastOf(value);
    },
  },
  list: { params: [], run: listOf },
  map: { params: undefined, run: (value, _, given, calls) => new Iter(mapped(value, given, calls)) },
  max: extreme(-1, 'aggregated'),
  min: extreme(1, 'aggregated'),
  reject: selecting(false, false),
  rejectattr: selecting(false, true),
  reverse: { params: [], run: reversed },
  select: selecting(true, false),
  selectattr: selecting(true, true),
  slice: {
    params: ['slices', 'fill_with?'],
    run: (value, [count, fill = null]) => new Iter(slices(value, integer(count), fill)),
  },
  sort: {
    params: ['reverse?', 'case_sensitive?', 'attribute?'],
    run(value, [isReversed = false, isCaseSensitive = false, attribute = null]) {
      const names = textOf(attribute)?.split(',') ?? [attribute];
      const keys = names.map((name) => keyBy(name, isCaseSensitive));
      return sorted(listOf(value), (item) => keys.map((keyOf) => keyOf(item)), isTrue(isReversed));
    },
  },
  sum,
  unique: {
    params: ['case_sensitive?', 'attribute?'],
    run: (value, [isCaseSensitive = false, attribute = null]) =>
      new Iter(uniqueItems(value, keyBy(attribute, isCaseSensitive))),
  },
};

/** `None` may be the last item. */
function lastOf(value: Value): Value {
  const isEmpty = !(value instanceof Range) && listOf(value).length === 0;
  return isEmpty || value instanceof Range ? new Undefined('No last item, sequence was empty.') : null;
}
