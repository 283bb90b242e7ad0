import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import type { Expression, Machine } from './expressions.ts';
import { PIECE_MS } from './limits.ts';
import type { State, States } from './states.ts';

/** Of one combination. */
const MAX_PLACES = 6000;
/** Where it must be known at once: some 50 ms. */
const MAX_PLACES_AT_ONCE = 1000;

/** A place in several languages at once. */
class Combined implements Machine {
  readonly isEnd: boolean;
  /** Whether a text of the combination goes on from here; undefined as long as nobody has looked. */
  isLive: boolean | undefined;
  readonly #languages: CombinedLanguages;
  readonly #all: readonly State[];
  readonly #none: readonly State[];

  constructor(languages: CombinedLanguages, all: readonly State[], none: readonly State[]) {
    this.#languages = languages;
    this.#all = all;
    this.#none = none;
    this.isEnd = all.every(({ isEnd }) => isEnd) && !none.some(({ isEnd }) => isEnd);
  }

  step(byte: number): Combined | undefined {
    const next = this.#next(byte);
    return next?.isLive === true ? next : undefined;
  }

  /** Also where no text goes on. Bytes beside each other mostly lead to the same place. */
  *allNext(): Generator<Combined> {
    const { states } = this.#languages;
    const parts = [...this.#all, ...this.#none];
    let last: readonly (State | null)[] = [];
    for (let byte = 0; byte < 256; byte += 1) {
      const steps = parts.map((state) => states.step(state, byte));
      if (last.length > 0 && steps.every((step, index) => step === last[index])) continue;
      last = steps;
      const next = this.#next(byte);
      if (next) yield next;
    }
  }

  #next(byte: number): Combined | undefined {
    const all: State[] = [];
    for (const state of this.#all) {
      const next = this.#languages.states.step(state, byte);
      if (!next) return undefined;
      all.push(next);
    }
    const none = this.#none.flatMap((state) => this.#languages.states.step(state, byte) ?? []);
    return this.#languages.at(all, none);
  }
}

/** Texts that several expressions have in common, and others have not. */
export class CombinedLanguages {
  readonly states: States;
  readonly #known = new Map<string, Combined>();
  /** Combinations that nobody has looked into. */
  #waiting: { readonly start: Combined; readonly param: string }[] = [];

  constructor(states: States) {
    this.states = states;
  }

  /** Forgets what another shape was refused for. */
  startShape(): void {
    this.#waiting = [];
  }

  /** @param param Of what is refused by `explore` if no text fits. */
  combine(all: readonly Expression[], none: readonly Expression[], param: string): Expression {
    const [only] = all;
    if (only && all.length === 1 && none.length === 0) return only;
    const start = this.#start(all, none);
    if (start.isLive === undefined) this.#waiting.push({ start, param });
    return this.states.make.machine(start);
  }

  /** The same at once, which is without a text if none fits. @throws ResponseFormatUnsupportedError. */
  combineNow(all: readonly Expression[], none: readonly Expression[], param: string): Expression {
    finish(this.explore());
    const start = this.#start(all, none);
    finish(this.#explore(start, param, MAX_PLACES_AT_ONCE));
    return start.isLive === true ? this.states.make.machine(start) : this.states.make.never;
  }

  /** Finds the dead ends of all combinations, in pieces. @throws ResponseFormatUnsupportedError. */
  *explore(): Generator<void, void> {
    // The inner ones come first.
    for (const { start, param } of this.#waiting) {
      yield* this.#explore(start, param, MAX_PLACES);
      if (start.isLive !== true)
        throw ResponseFormatUnsupportedError.of(
          param,
          'allows no text, since its conditions contradict each other',
          'leave out one of its pattern, format and lengths',
        );
    }
    this.#waiting = [];
  }

  #start(all: readonly Expression[], none: readonly Expression[]): Combined {
    const stateOf = (expression: Expression): State => this.states.stateOf(expression);
    return this.at(all.map(stateOf), none.map(stateOf));
  }

  /** Of a language whose references have been followed. */
  accepts(language: Expression, text: string): boolean {
    finish(this.explore());
    let state: State | null = this.states.stateOf(language);
    for (const byte of new TextEncoder().encode(text)) state = state && this.states.step(state, byte);
    return state?.isEnd === true;
  }

  at(all: readonly State[], none: readonly State[]): Combined {
    const key = [all, none].map((states) => states.map(({ id }) => id).join(',')).join(' ');
    const known = this.#known.get(key) ?? new Combined(this, all, none);
    this.#known.set(key, known);
    return known;
  }

  *#explore(start: Combined, param: string, maxPlaces: number): Generator<void, void> {
    if (start.isLive !== undefined) return;
    const before = new Map<Combined, Combined[]>([[start, []]]);
    let startedAtMs = performance.now();
    for (const [place] of before) {
      if (performance.now() - startedAtMs > PIECE_MS) {
        yield;
        startedAtMs = performance.now();
      }
      for (const next of place.allNext()) {
        const places = before.get(next);
        if (places) places.push(place);
        else before.set(next, [place]);
      }
      if (before.size > maxPlaces)
        throw ResponseFormatUnsupportedError.of(
          param,
          'has too many conditions that must hold together',
          'use smaller counts, or fewer conditions',
        );
    }
    const live = new Set([...before.keys()].filter(({ isEnd }) => isEnd));
    for (const place of live) for (const earlier of before.get(place) ?? []) live.add(earlier);
    for (const place of before.keys()) place.isLive = live.has(place);
  }
}

function finish(work: Generator<void, void>): void {
  while (work.next().done !== true);
}
