import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { Expression, Machine } from './expressions.ts';
import type { Work } from './pace.ts';
import type { State, States } from './states.ts';

/** The most places of one combination. */
const MAX_PLACES = 6000;

/** A place in several languages at once. */
class Combined implements Machine {
  readonly isEnd: boolean;
  /** Whether a text of the combination goes on from here; undefined until it is computed. */
  isLive: boolean | undefined;
  readonly #languages: CombinedLanguages;
  readonly #all: readonly State[];
  /** The excluded language; null once the text can no longer belong to it. */
  readonly #none: State | null;

  constructor(languages: CombinedLanguages, all: readonly State[], none: State | null) {
    this.#languages = languages;
    this.#all = all;
    this.#none = none;
    this.isEnd = all.every(({ isEnd }) => isEnd) && none?.isEnd !== true;
  }

  step(byte: number): Combined | undefined {
    const next = this.#next(byte);
    return next?.isLive === true ? next : undefined;
  }

  /** Also where no text goes on. Bytes beside each other mostly lead to the same place. */
  *allNext(): Work<ReadonlySet<Combined>> {
    const { states } = this.#languages;
    const parts = this.#none ? [...this.#all, this.#none] : this.#all;
    const found = new Set<Combined>();
    let last: readonly (State | null)[] = [];
    for (let byte = 0; byte < 256; byte += 1) {
      const numWays = states.numWaysSeen;
      const steps = parts.map((state) => states.step(state, byte));
      if (states.numWaysSeen > numWays) yield;
      if (last.length > 0 && steps.every((step, index) => step === last[index])) continue;
      last = steps;
      const next = this.#next(byte);
      if (next) found.add(next);
    }
    return found;
  }

  #next(byte: number): Combined | undefined {
    const all: State[] = [];
    for (const state of this.#all) {
      const next = this.#languages.states.step(state, byte);
      if (!next) return undefined;
      all.push(next);
    }
    return this.#languages.at(all, this.#none && this.#languages.states.step(this.#none, byte));
  }
}

/** Texts that several expressions have in common, and others have not. */
export class CombinedLanguages {
  readonly states: States;
  readonly #known = new Map<string, Combined>();

  constructor(states: States) {
    this.states = states;
  }

  /**
   * The expression without a text where no text fits.
   *
   * @throws ResponseFormatUnsupportedError.
   */
  *combine(all: readonly Expression[], none: readonly Expression[], param: string): Work<Expression> {
    const [only] = all;
    if (only && all.length === 1 && none.length === 0) return only;
    const stateOf = (expression: Expression): State => this.states.stateOf(expression);
    const start = this.at(all.map(stateOf), none.length > 0 ? stateOf(this.states.make.choice(none)) : null);
    yield* this.#explore(start, param);
    return start.isLive === true ? this.states.make.machine(start) : this.states.make.never;
  }

  /** For a language whose references have been followed. */
  *accepts(language: Expression, text: string): Work<boolean> {
    return (
      (yield* this.states.after(this.states.stateOf(language), new TextEncoder().encode(text)))?.isEnd ===
      true
    );
  }

  at(all: readonly State[], none: State | null): Combined {
    const key = `${all.map(({ id }) => id).join(',')} ${none?.id}`;
    const known = this.#known.get(key) ?? new Combined(this, all, none);
    this.#known.set(key, known);
    return known;
  }

  /** Finds its dead ends. */
  *#explore(start: Combined, param: string): Work<void> {
    if (start.isLive !== undefined) return;
    const before = new Map<Combined, Combined[]>([[start, []]]);
    for (const [place] of before) {
      yield;
      for (const next of yield* place.allNext()) {
        const places = before.get(next);
        if (places) places.push(place);
        else before.set(next, [place]);
      }
      if (before.size > MAX_PLACES)
        throw ResponseFormatUnsupportedError.of(
          param,
          'has too many conditions that must hold together',
          'use smaller counts, or fewer conditions',
        );
    }
    const live = new Set([...before.keys()].filter(({ isEnd }) => isEnd));
    for (const place of live) {
      for (const earlier of before.get(place) ?? []) live.add(earlier);
      yield;
    }
    for (const place of before.keys()) place.isLive = live.has(place);
  }
}
