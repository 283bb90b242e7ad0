import { formatDate } from './format-date.ts';
import { str } from './print.ts';
import { Dict, FROM_KEYS, Namespace, Range } from './containers.ts';
import { integer } from './numbers.ts';
import {
  Callable,
  iterate,
  PyObject,
  TemplateError,
  UnsupportedFeature,
  type Arguments,
  type Value,
} from './values.ts';
import { requireText } from './text-methods.ts';

/** Jinja2's generator of placeholder texts, which is not computed here. */
export const UNSUPPORTED_GLOBALS = ['lipsum'];

class DictType extends Callable {
  constructor() {
    super('dict', (args) => new Dict(entriesOf(args)));
  }

  override attribute(name: string): Value | undefined {
    return name === 'fromkeys' ? FROM_KEYS : undefined;
  }
}

function entriesOf({
  positional: [given, ...others],
  named,
}: Arguments): readonly (readonly [Value, Value])[] {
  if (others.length > 0) throw new TemplateError('dict expected at most 1 argument');
  const pairs =
    given instanceof Dict ? [...given.entries] : given === undefined ? [] : [...iterate(given)].map(pairOf);
  return [...pairs, ...named];
}

function pairOf(value: Value): readonly [Value, Value] {
  const [key, item, ...others] = iterate(value);
  if (key === undefined || item === undefined || others.length > 0)
    throw new TemplateError('dictionary update sequence element has not length 2');
  return [key, item];
}

class Cycler extends PyObject {
  readonly typeName = 'Cycler';
  readonly #items: readonly Value[];
  #position = 0;

  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) throw new TemplateError('at least one item has to be provided');
    this.#items = items;
  }

  #current(): Value {
    return this.#items[this.#position] ?? null;
  }

  override attribute(name: string): Value | undefined {
    if (name === 'current') return this.#current();
    if (name === 'reset')
      return Callable.of(name, [], () => {
        this.#position = 0;
        return null;
      });
    if (name !== 'next') return undefined;
    return Callable.of(name, [], () => {
      const current = this.#current();
      this.#position = (this.#position + 1) % this.#items.length;
      return current;
    });
  }

  repr(): string {
    throw new UnsupportedFeature('the text of a cycler');
  }
}

function joiner(separator: Value = ', '): Callable {
  let isUsed = false;
  return Callable.of('joiner', [], () => {
    const result = isUsed ? separator : '';
    isUsed = true;
    return result;
  });
}

const NAMESPACE = new Callable('namespace', (args) => {
  const namespace = new Namespace();
  for (const [name, value] of new Dict(entriesOf(args)).entries) namespace.set(str(name), value);
  return namespace;
});

const RANGE = Callable.of('range', ['start', 'stop?', 'step?'], (start, stop, by) => {
  const [from, to] = stop === undefined ? [0, integer(start)] : [integer(start), integer(stop)];
  return new Range(BigInt(from), BigInt(to), BigInt(integer(by, 1)));
});

/** Globals that Jinja2 and huggingface/transformers give every template. */
export const GLOBALS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['range', RANGE],
  ['dict', new DictType()],
  ['namespace', NAMESPACE],
  ['cycler', new Callable('cycler', ({ positional }) => new Cycler(positional))],
  ['joiner', Callable.of('joiner', ['sep?'], joiner)],
  [
    'raise_exception',
    Callable.of('raise_exception', ['message'], (message = null) => {
      throw new TemplateError(str(message), true);
    }),
  ],
  [
    'strftime_now',
    Callable.of('strftime_now', ['format'], (format) => formatDate(new Date(), requireText(format))),
  ],
]);
