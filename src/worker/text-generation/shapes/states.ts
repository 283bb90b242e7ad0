import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { TokenMask } from '../../../batching/sampling/token-mask.ts';
import { MAX_WAYS } from './limits.ts';
import type { Work } from './pace.ts';
import type { ByteSet, Expression, Expressions, Machine } from './expressions.ts';

/** The rest of a text: an expression, and the rest behind it. Equal ones are one object. Undefined is the end. */
export class Rest {
  readonly id: number;
  readonly head: Expression;
  readonly tail: Rest | undefined;
  /** By head. */
  readonly longer = new Map<Expression, Rest>();
  /** The state that is this alone. */
  state: State | undefined;
  /** What the head reads. States with many ways share these objects. */
  ready: ReadyBytes | undefined;
  /** What the head stands for, if it reads nothing by itself. */
  further: readonly (Rest | undefined)[] | undefined;

  constructor(id: number, head: Expression, tail: Rest | undefined) {
    this.id = id;
    this.head = head;
    this.tail = tail;
  }
}

interface ReadyBytes {
  readonly bytes: ByteSet;
  readonly tail: Rest | undefined;
}

interface ReadyMachine {
  readonly machine: Machine;
  readonly tail: Rest | undefined;
}

/** Where a text is in a shape. What it allows is computed as it is asked for. */
export interface State {
  readonly id: number;
  /** As before names and choices are looked into. */
  readonly rests: readonly (Rest | undefined)[];
  readonly ready: readonly ReadyBytes[];
  readonly machines: readonly ReadyMachine[];
  /** Whether the text may end. */
  readonly isEnd: boolean;
  /** Whether a token may end here: not inside a character of a set, unless the vocabulary can always end it. */
  readonly canPause: boolean;
  /** By byte; null leads nowhere. */
  next: (State | null | undefined)[] | undefined;
  mask: TokenMask | undefined;
}

/** Ways whose next steps are found for all bytes at once. */
const MAX_AT_ONCE = 64;

/** Tables of 256 states that are kept: 16 MB. */
const MAX_TABLES = 8192;

/** The states of the shapes whose expressions are made by one maker. */
export class States {
  readonly make: Expressions;
  /** Ways that have been looked at. Who goes through many states pauses by it. */
  numWaysSeen = 0;
  /** Ways of all states, which are kept as long as the shapes are. */
  numWaysKept = 0;
  readonly #first = new Map<Expression, Rest>();
  readonly #states = new Map<string, State>();
  #tabled: State[] = [];
  #numRests = 1;
  #numStates = 0;
  #end: State | undefined;

  constructor(make: Expressions) {
    this.make = make;
  }

  /** The size of all that is kept as long as the shapes are. */
  get size(): number {
    return this.make.size + this.#numRests + this.#numStates;
  }

  before(head: Expression, tail: Rest | undefined): Rest {
    const longer = tail?.longer ?? this.#first;
    const known = longer.get(head);
    if (known) return known;
    const rest = new Rest(this.#numRests++, head, tail);
    longer.set(head, rest);
    return rest;
  }

  stateOf(expression: Expression): State {
    return this.stateAt([this.before(expression, undefined)]);
  }

  stateAt(rests: readonly (Rest | undefined)[]): State {
    const [only] = rests;
    if (rests.length === 1)
      return only ? (only.state ??= this.#create(rests)) : (this.#end ??= this.#create(rests));
    const sorted = rests.toSorted((a, b) => (a?.id ?? 0) - (b?.id ?? 0));
    const key = sorted.map((rest) => rest?.id ?? 0).join(',');
    const state = this.#states.get(key) ?? this.#create(sorted);
    this.#states.set(key, state);
    return state;
  }

  /** Null where no text goes on with this byte. */
  step(state: State, byte: number): State | null {
    const known = state.next?.[byte];
    if (known !== undefined) return known;
    if (!state.next) {
      if (this.#tabled.length >= MAX_TABLES) this.forget();
      state.next = Array.from({ length: 256 });
      this.#tabled.push(state);
      if (state.ready.length <= MAX_AT_ONCE && state.machines.length === 0) this.#stepAll(state, state.next);
    }
    const found = state.next[byte];
    if (found !== undefined) return found;
    const next = this.#behind(state, byte);
    // Steps of a machine may have dropped the table.
    if (state.next) state.next[byte] = next;
    return next;
  }

  /** Bytes that lead to the same place do so at once. */
  #stepAll(state: State, next: (State | null | undefined)[]): void {
    const kinds = new Uint16Array(256);
    let numKinds = 1;
    for (const { bytes } of state.ready) {
      const split = new Map<number, number>();
      for (let byte = 0; byte < 256; byte += 1) {
        const key = (kinds[byte] ?? 0) * 2 + (bytes.has[byte] ?? 0);
        const kind = split.get(key) ?? split.size;
        split.set(key, kind);
        kinds[byte] = kind;
      }
      numKinds = split.size;
    }
    const known: (State | null | undefined)[] = Array.from({ length: numKinds });
    for (let byte = 0; byte < 256; byte += 1) {
      const kind = kinds[byte] ?? 0;
      if (known[kind] === undefined) known[kind] = this.#behind(state, byte);
      next[byte] = known[kind];
    }
  }

  #behind(state: State, byte: number): State | null {
    this.numWaysSeen += 1 + state.ready.length + state.machines.length;
    const rests = new Set<Rest | undefined>();
    for (const { bytes, tail } of state.ready) if (bytes.has[byte] === 1) rests.add(tail);
    for (const { machine, tail } of state.machines) {
      const stepped = machine.step(byte);
      if (stepped) rests.add(this.before(this.make.machine(stepped), tail));
    }
    return rests.size === 0 ? null : this.stateAt([...rests]);
  }

  /** The only byte that can follow; undefined where there are several, or where the text may end. */
  *onlyByte(state: State): Work<number | undefined> {
    if (state.isEnd) return undefined;
    const bytes = new Set<number>();
    for (const { has } of state.ready.map((ready) => ready.bytes)) {
      bytes.add(has.indexOf(1)).add(has.lastIndexOf(1));
      if (bytes.size > 1) return undefined;
    }
    for (let byte = 0; state.machines.length > 0 && byte < 256; byte += 1) {
      if (this.step(state, byte)) bytes.add(byte);
      if (bytes.size > 1) return undefined;
      yield;
    }
    const [only] = bytes;
    return bytes.size === 1 ? only : undefined;
  }

  /** Where bytes lead, without looking at others. */
  *after(state: State, bytes: Iterable<number>): Work<State | null> {
    let reached: State | null = state;
    for (const byte of bytes) {
      if (!reached) break;
      const known: State | null | undefined = reached.next?.[byte];
      reached = known === undefined ? this.#behind(reached, byte) : known;
      yield;
    }
    return reached;
  }

  /** Drops what can be computed again. */
  forget(): void {
    for (const state of this.#tabled) state.next = undefined;
    this.#tabled = [];
  }

  #create(rests: readonly (Rest | undefined)[]): State {
    const ready: ReadyBytes[] = [];
    const machines: ReadyMachine[] = [];
    // A set's loop comes to what is added meanwhile, and once to what comes in a circle.
    const found = new Set(rests);
    for (const rest of found) {
      if (!rest) continue;
      const { head, tail } = rest;
      if (head.kind === 'bytes') ready.push((rest.ready ??= { bytes: head, tail }));
      else if (head.kind === 'machine') {
        machines.push({ machine: head.machine, tail });
        if (head.machine.isEnd) found.add(tail);
      } else for (const further of (rest.further ??= this.#lookInto(head, tail))) found.add(further);
      if (found.size > MAX_WAYS)
        throw ResponseFormatUnsupportedError.of(
          'responseFormat',
          `can be read in more than ${MAX_WAYS} ways at once`,
          'write it with fewer alternatives and counts inside each other',
        );
    }
    this.#numStates += 1;
    this.numWaysSeen += found.size;
    this.numWaysKept += ready.length + machines.length;
    const isEnd = found.has(undefined);
    return {
      id: this.#numStates,
      rests,
      ready,
      machines,
      isEnd,
      canPause: isEnd || machines.length > 0 || ready.some(({ bytes }) => !bytes.isInner),
      next: undefined,
      mask: undefined,
    };
  }

  #lookInto(
    head: Exclude<Expression, { readonly kind: 'bytes' | 'machine' }>,
    tail: Rest | undefined,
  ): readonly (Rest | undefined)[] {
    switch (head.kind) {
      case 'sequence':
        return [head.parts.reduceRight<Rest | undefined>((rest, part) => this.before(part, rest), tail)];
      case 'choice':
        return head.branches.map((branch) => this.before(branch, tail));
      case 'rule':
        return head.body ? [this.before(head.body, tail)] : [];
      case 'repeat': {
        const { part, min, max } = head;
        const further = this.make.repeat(part, Math.max(0, min - 1), max - 1);
        const behind = further === this.make.empty ? tail : this.before(further, tail);
        return [this.before(part, behind), ...(min === 0 ? [tail] : [])];
      }
    }
  }
}
