import { equals } from './compare.ts';
import { Callable, TemplateError, Undefined, iterate, lengthOf, orElse, type Value } from './values.ts';

/** `loop` in the body of a `for`. It looks ahead only where a template asks for what comes next. */
export class Loop extends Callable {
  override readonly typeName = 'LoopContext';
  readonly #iterator: Iterator<Value>;
  readonly #depth: number;
  /** Undefined where the items must be counted. */
  #length: number | undefined;
  #ahead: Value[] = [];
  #index = -1;
  #previous: Value | undefined;
  #current: Value | undefined;
  #lastChanged: readonly Value[] | undefined;

  /** @param items What `iterated` walks through, with its length, if no test leaves any out. */
  constructor(
    items: Value,
    iterated: Iterable<Value>,
    depth: number,
    recurse: ((items: Value, depth: number) => string) | undefined,
  ) {
    super('loop', ({ positional: [inner = null] }) => {
      if (!recurse)
        throw new TemplateError("The loop must have the 'recursive' marker to be called recursively.");
      return recurse(inner, depth + 1);
    });
    this.#length = lengthOf(items);
    this.#iterator = iterated[Symbol.iterator]();
    this.#depth = depth;
  }

  /** Whether there was another item, which is then the current one. */
  advance(): boolean {
    const item = this.#peek();
    if (item === undefined) return false;
    this.#ahead.shift();
    this.#previous = this.#current;
    this.#current = item;
    this.#index += 1;
    return true;
  }

  get current(): Value {
    return this.#current ?? null;
  }

  #peek(): Value | undefined {
    if (this.#ahead.length === 0) {
      const next = this.#iterator.next();
      if (next.done !== true) this.#ahead.push(next.value);
    }
    return this.#ahead[0];
  }

  override size(): number {
    if (this.#length === undefined) {
      for (let next = this.#iterator.next(); next.done !== true; next = this.#iterator.next())
        this.#ahead.push(next.value);
      this.#length = this.#index + 1 + this.#ahead.length;
    }
    return this.#length;
  }

  override attribute(name: string): Value | undefined {
    const integers: Readonly<Record<string, () => number>> = {
      index: () => this.#index + 1,
      index0: () => this.#index,
      revindex: () => this.size() - this.#index,
      revindex0: () => this.size() - this.#index - 1,
      length: () => this.size(),
      depth: () => this.#depth + 1,
      depth0: () => this.#depth,
    };
    const number = Object.hasOwn(integers, name) ? integers[name] : undefined;
    if (number) return BigInt(number());
    switch (name) {
      case 'first':
        return this.#index === 0;
      case 'last':
        return this.#peek() === undefined;
      case 'previtem':
        return orElse(this.#previous, () => new Undefined('there is no previous item'));
      case 'nextitem':
        return orElse(this.#peek(), () => new Undefined('there is no next item'));
      case 'cycle':
        return new Callable(name, ({ positional }) => {
          if (positional.length === 0) throw new TemplateError('no items for cycling given');
          return positional[this.#index % positional.length] ?? null;
        });
      case 'changed':
        return new Callable(name, ({ positional }) => {
          const isSame = this.#lastChanged !== undefined && equals(this.#lastChanged, positional);
          this.#lastChanged = positional;
          return !isSame;
        });
      default:
        return undefined;
    }
  }

  override repr(): string {
    return `<LoopContext ${this.#index + 1}/${this.size()}>`;
  }
}

/** The items of a `for`, without those that its test leaves out. */
export function* filtered(items: Value, isKept: (item: Value) => boolean): Generator<Value> {
  for (const item of iterate(items)) if (isKept(item)) yield item;
}
