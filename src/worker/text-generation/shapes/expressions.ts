import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { MAX_WAYS } from './limits.ts';
import type { Work } from './pace.ts';

/** A language of bytes: what a shape, or a part of it, allows. Equal ones of an arena are one object. */
export type Expression = ByteSet | Sequence | Choice | Repeat | Rule | MachineUse;

export interface ByteSet {
  readonly kind: 'bytes';
  readonly id: number;
  /** 1 for each of the 256 bytes that is in it. */
  readonly has: Uint8Array;
  /** Whether a character of several bytes has begun before it, which some vocabularies can't end. */
  readonly isInner: boolean;
}

interface Sequence {
  readonly kind: 'sequence';
  readonly id: number;
  readonly parts: readonly Expression[];
}

interface Choice {
  readonly kind: 'choice';
  readonly id: number;
  readonly branches: readonly Expression[];
}

export interface Repeat {
  readonly kind: 'repeat';
  readonly id: number;
  readonly part: Expression;
  readonly min: number;
  readonly max: number;
}

/** A part with a name, which may hold itself. */
export interface Rule {
  readonly kind: 'rule';
  readonly id: number;
  /** For people. */
  readonly name: string;
  body: Expression | undefined;
}

/** A language whose states compute what may follow. */
export interface Machine {
  readonly isEnd: boolean;
  /** Where a byte leads: undefined where no text of the language has it. */
  step(byte: number): Machine | undefined;
}

interface MachineUse {
  readonly kind: 'machine';
  readonly id: number;
  readonly machine: Machine;
}

/** The most expressions that shapes are compiled to. A large schema has some ten thousand. */
const MAX_SIZE = 100_000;

/** Bytes of all texts of one shape. They may all be looked into at once. */
const MAX_BYTES = 200_000;

const encoder = new TextEncoder();

/** Makes expressions, each once, so that texts of many shapes share what is known about them. */
export class Expressions {
  readonly #made = new Map<string, Expression>();
  readonly #machines = new Map<Machine, Expression>();
  readonly #characterOf = new Map<string, Expression>();
  readonly #singles: ByteSet[] = [];
  /** Characters: no text of theirs begins another one. */
  readonly characters = new Set<Expression>();
  readonly empty: Expression = { kind: 'sequence', id: 0, parts: [] };
  /** Without a text. */
  readonly never: Expression = { kind: 'choice', id: 1, branches: [] };
  #numMade = 2;
  #limit = MAX_SIZE;
  #numBytes = 0;

  get size(): number {
    return this.#numMade;
  }

  /** Lets one more shape be made. */
  startShape(): void {
    this.#limit = this.#numMade + MAX_SIZE;
    this.#numBytes = 0;
  }

  bytes(bytes: readonly number[], isInner = false): Expression {
    if (bytes.length === 0) return this.never;
    return this.#once(`b${isInner}${bytes.join(',')}`, (id) => {
      const has = new Uint8Array(256);
      for (const byte of bytes) has[byte] = 1;
      return { kind: 'bytes', id, has, isInner };
    });
  }

  /** A kind of character, by its name. */
  characterOnce(name: string, make: () => Expression): Expression {
    const known = this.#characterOf.get(name);
    if (known) return known;
    const made = make();
    this.#characterOf.set(name, made);
    this.characters.add(made);
    return made;
  }

  text(text: string): Expression {
    const bytes = encoder.encode(text);
    this.#numBytes += bytes.length;
    if (this.#numBytes > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes of texts`);
    return this.sequence(Array.from(bytes, (byte) => this.#single(byte)));
  }

  sequence(parts: readonly Expression[]): Expression {
    const [only] = parts;
    if (only && parts.length === 1) return only;
    const flat = parts.flatMap((part) => (part.kind === 'sequence' ? part.parts : [part]));
    if (flat.includes(this.never)) return this.never;
    if (flat.length === 0) return this.empty;
    const [first = this.empty] = flat;
    if (flat.length === 1) return first;
    return this.#once(`s${idsOf(flat)}`, (id) => ({ kind: 'sequence', id, parts: flat }));
  }

  choice(branches: readonly Expression[]): Expression {
    const flat = branches.flatMap((branch) => (branch.kind === 'choice' ? branch.branches : [branch]));
    const different = [...new Set(flat)];
    const [first = this.never] = different;
    if (different.length < 2) return first;
    if (different.length > MAX_WAYS)
      throw ResponseFormatUnsupportedError.of(
        'responseFormat',
        `has a choice of more than ${MAX_WAYS}`,
        'list fewer, or describe them by a pattern',
      );
    return this.#once(`c${idsOf(different)}`, (id) => ({ kind: 'choice', id, branches: different }));
  }

  optional(part: Expression): Expression {
    return this.choice([this.empty, part]);
  }

  /** Texts make more of them while they count: the limit isn't theirs. */
  repeat(part: Expression, min: number, max: number): Expression {
    if (max === 0 || part === this.empty) return this.empty;
    if (part === this.never) return min === 0 ? this.empty : this.never;
    if (min === 1 && max === 1) return part;
    // Else a text of nothing could be counted in as many ways as there are counts.
    if (part.kind === 'choice' && part.branches.includes(this.empty))
      return this.repeat(this.choice(part.branches.filter((branch) => branch !== this.empty)), 0, max);
    if (part.kind === 'repeat' && part.min === 0) return this.repeat(part.part, 0, part.max * max);
    return this.#known(`r${part.id},${min},${max}`, () => ({
      kind: 'repeat',
      id: this.#numMade++,
      part,
      min,
      max,
    }));
  }

  rule(name: string, body?: Expression): Rule {
    return { kind: 'rule', id: this.#nextId(), name, body };
  }

  machine(machine: Machine): Expression {
    const known = this.#machines.get(machine);
    if (known) return known;
    const made: Expression = { kind: 'machine', id: this.#numMade++, machine };
    this.#machines.set(machine, made);
    return made;
  }

  #single(byte: number): ByteSet {
    return (this.#singles[byte] ??= {
      kind: 'bytes',
      id: this.#nextId(),
      has: new Uint8Array(256).fill(1, byte, byte + 1),
      isInner: false,
    });
  }

  #once(key: string, make: (id: number) => Expression): Expression {
    return this.#known(key, () => make(this.#nextId()));
  }

  #known(key: string, make: () => Expression): Expression {
    const known = this.#made.get(key);
    if (known) return known;
    const made = make();
    this.#made.set(key, made);
    return made;
  }

  #nextId(): number {
    if (this.#numMade >= this.#limit) throw tooLarge(`${MAX_SIZE} parts`);
    return this.#numMade++;
  }
}

export function* choiceOf(texts: readonly string[], make: Expressions): Work<Expression> {
  const branches: Expression[] = [];
  for (const text of texts) {
    branches.push(make.text(text));
    yield;
  }
  return make.choice(branches);
}

function tooLarge(limit: string): ResponseFormatUnsupportedError {
  return ResponseFormatUnsupportedError.of(
    'responseFormat',
    `is too large: it has more than ${limit}`,
    'leave parts out, or use smaller ones',
  );
}

function idsOf(expressions: readonly Expression[]): string {
  return expressions.map(({ id }) => id).join(',');
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'sequence':
      return expression.parts;
    case 'choice':
      return expression.branches;
    case 'repeat':
      return [expression.part];
    case 'rule':
      return expression.body ? [expression.body] : [];
    case 'bytes':
    case 'machine':
      return [];
  }
}

/** The first rule without a finite text, of those that an expression leads to. Looks at each part of each once. */
export function* endlessRuleOf(root: Expression): Work<Rule | undefined> {
  const found = new Set([root]);
  const usersOf = new Map<Expression, Expression[]>();
  /** Parts that must still be found to end before an expression does. */
  const numMissing = new Map<Expression, number>();
  const ending = new Set<Expression>();
  // A set's loop comes to what is added meanwhile.
  for (const user of found) {
    const parts = new Set(partsOf(user));
    const rules = [...parts].filter((part) => !isLeaf(part));
    for (const part of rules) {
      found.add(part);
      const users = usersOf.get(part);
      if (users) users.push(user);
      else usersOf.set(part, [user]);
    }
    const canSkip = isLeaf(user) || (user.kind === 'repeat' && user.min === 0);
    const isAny = canSkip || rules.length < parts.size;
    const missing = user.kind === 'sequence' ? rules.length : isAny ? 0 : 1;
    numMissing.set(user, missing);
    if (missing === 0) ending.add(user);
    yield;
  }
  for (const expression of ending)
    for (const user of usersOf.get(expression) ?? []) {
      const missing = (numMissing.get(user) ?? 0) - 1;
      numMissing.set(user, missing);
      if (missing === 0) ending.add(user);
      yield;
    }
  for (const expression of found)
    if (expression.kind === 'rule' && !ending.has(expression)) return expression;
  return undefined;
}

function isLeaf({ kind }: Expression): boolean {
  return kind === 'bytes' || kind === 'machine';
}
