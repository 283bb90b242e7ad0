import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';

type Statement = Parameters<Interpreter['evaluate']>[0];
type Value = ReturnType<Interpreter['evaluate']>;

/** Rendering holds the worker of all tabs. A chat of the longest prompt takes milliseconds. */
const MAX_RENDER_MS = 5000;
/** Characters and items of a value. Twice the longest prompt: no operation on such a text takes more than seconds. */
const MAX_VALUE_SIZE = 2 ** 18;
/** The size of a list, with all that is in it: a chat has its messages here. */
const MAX_LIST_SIZE = 2 ** 20;

/** Statements and expressions in each other. The stack has room for more. */
const MAX_DEPTH = 500;

/** A Jinja template that ends: an endless loop, or a value without end, is an error. */
export class BoundedTemplate {
  readonly #program: ReturnType<typeof parse>;
  readonly #now: () => number;

  /** @throws SyntaxError, or RangeError for a template of too many characters. */
  constructor(template: string, now = () => performance.now()) {
    if (template.length > MAX_VALUE_SIZE) throw tooLarge();
    this.#program = parse(tokenize(template, { lstrip_blocks: true, trim_blocks: true }));
    this.#now = now;
  }

  /** @throws The template's own errors; RangeError if it takes too long or a value gets too large. */
  render(variables: Readonly<Record<string, unknown>>): string {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    return new BoundedInterpreter(environment, this.#now).run(this.#program).toString();
  }
}

/** As the library's own, which are not exported. Its `range` would fill the memory. */
const GLOBALS = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  range,
  raise_exception(message: unknown): never {
    throw new Error(String(message));
  },
};

class BoundedInterpreter extends Interpreter {
  readonly #now: () => number;
  readonly #endMs: number;
  /** By the contents of a list or mapping, which never change. */
  readonly #sizes = new WeakMap<object, number>();
  #depth = 0;

  constructor(environment: Environment, now: () => number) {
    super(environment);
    this.#now = now;
    this.#endMs = now() + MAX_RENDER_MS;
  }

  /** Every statement and expression comes here. */
  override evaluate(statement: Statement, environment: Environment): Value {
    if (this.#now() > this.#endMs) throw new RangeError(`it takes longer than ${MAX_RENDER_MS / 1000} s`);
    if (this.#depth >= MAX_DEPTH) throw new RangeError('a macro of it calls itself without end');
    this.#depth += 1;
    try {
      const result = super.evaluate(statement, environment);
      this.#check(result);
      return result;
    } finally {
      this.#depth -= 1;
    }
  }

  /** `undefined` is the first item of an empty list. */
  #check(result: Value | undefined): void {
    const value: unknown = result?.value;
    if (typeof value === 'string' ? value.length > MAX_VALUE_SIZE : this.#sizeOf(result) > MAX_LIST_SIZE)
      throw tooLarge();
  }

  /** Small lists may hold each other again and again, and be written as a text without end. */
  #sizeOf(item: Value | undefined): number {
    const value: unknown = item?.value;
    if (typeof value === 'string') return value.length;
    if (!isContainer(value)) return 0;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    let size = 0;
    for (const [key, inner] of value.entries()) {
      // Namespaces change: none may be in another value.
      size += inner.type === 'NamespaceValue' ? Infinity : String(key).length + this.#sizeOf(inner);
      if (size > MAX_LIST_SIZE) break;
    }
    if (item?.type !== 'NamespaceValue') this.#sizes.set(value, size);
    return size;
  }
}

function isContainer(value: unknown): value is readonly Value[] | ReadonlyMap<string, Value> {
  return Array.isArray(value) || value instanceof Map;
}

function tooLarge(): RangeError {
  return new RangeError(`it makes a value of more than ${MAX_VALUE_SIZE.toLocaleString('en')} characters`);
}

/** As Python's. */
function range(first: number, second?: number, step = 1): readonly number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new Error('range() step must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step)) || 0;
  if (length > MAX_VALUE_SIZE) throw tooLarge();
  return Array.from({ length }, (_, i) => start + i * step);
}
