import { isAllowed, type TokenMask } from '../sampling/token-mask.ts';
import type { StepRow } from './model-runner.ts';
import type { Lookahead } from './request.ts';
import { finalLengthOf, type Sequence } from './sequence.ts';
import { StepCosts } from './step-costs.ts';

/** Tokens that are guessed at once for a sequence. Later ones are rarely right, and never cheaper. */
export const MOST_GUESSES = 15;

/** Guesses are made if they bring so many times what they cost: rates and costs are estimates. */
const LEAST_GAIN = 1.1;

/** A kernel that computes tokens four by four makes the second of them dear and the fourth cheap, so guesses are weighed together. */
const WEIGHED_TOGETHER = 3;

/** So many times in a row, tokens that are certain may seem too dear. Then they are checked all the same, since one slow step may have made them seem so. */
const MOST_REFUSALS = 7;

type Guessed = Pick<StepRow, 'guessedTokenIds' | 'guessedMasks' | 'areForced'>;

/**
 * Chooses which guesses a decode step checks: those that bring more tokens for their time than the step does without them. So where
 * further tokens cost as much as they bring, or guesses fail, there are none.
 */
export class Guesses {
  readonly #costs = new StepCosts();
  readonly #maxTokens: number;
  #numRefusals = 0;

  /** @param maxTokens That one step may check. */
  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  /** @param ms How long a decode step took that was fed so many tokens. */
  measure(numTokens: number, ms: number): void {
    this.#costs.measure(numTokens, ms);
  }

  /** The guesses of these sequences, which decode together. */
  choose(sequences: readonly Sequence[], contextLength: number): ReadonlyMap<Sequence, Guessed> {
    if (this.#maxTokens === 0) return new Map();
    const texts = sequences.map((sequence) => new GuessedText(sequence, contextLength));
    const msOf = (numTokens: number): number => this.#costs.msOf(sequences.length + numTokens);
    let [numTokens, expected] = [0, sequences.length];
    let kept = { numTokens, expected, ms: msOf(0) };
    while (numTokens < this.#maxTokens) {
      const surest = surestOf(texts);
      if (!surest || surest.probability === 0) break;
      const { probability } = surest;
      if (probability < 1 && numTokens - kept.numTokens >= WEIGHED_TOGETHER) break;
      if (!surest.take()) continue;
      numTokens += 1;
      expected += probability;
      const ms = msOf(numTokens);
      const areWorthIt = (expected - kept.expected) * kept.ms > LEAST_GAIN * (ms - kept.ms) * kept.expected;
      if (!areWorthIt) continue;
      kept = { numTokens, expected, ms };
      for (const text of texts) text.keep();
    }
    if (kept.numTokens > 0) this.#numRefusals = 0;
    else if (this.#areTried(texts)) for (const text of texts) text.keepCertain();
    return new Map(texts.flatMap((text) => (text.numKept > 0 ? [[text.sequence, text.kept] as const] : [])));
  }

  /** Whether tokens that are certain are checked though they seem too dear. */
  #areTried(texts: readonly GuessedText[]): boolean {
    if (texts.some(({ numCertain }) => numCertain > 0)) this.#numRefusals += 1;
    if (this.#numRefusals <= MOST_REFUSALS) return false;
    this.#numRefusals = 0;
    return true;
  }
}

function surestOf(texts: readonly GuessedText[]): GuessedText | undefined {
  const [first, ...others] = texts;
  return others.reduce((best, text) => (best && text.probability > best.probability ? text : best), first);
}

/** How a sequence may go on: with the tokens that its constraint forces, and else with those that followed the same tokens before. */
class GuessedText {
  readonly sequence: Sequence;
  readonly #guessedTokenIds: number[] = [];
  readonly #guessedMasks: (TokenMask | undefined)[] = [];
  readonly #areForced: boolean[] = [];
  numKept = 0;
  /** The first guesses, which are surely right. */
  numCertain = 0;
  /** That the next guess and those before it are right; 0 if there is none. */
  probability = 1;
  readonly #room: number;
  /** None from where the constraint forces the text to go another way. */
  #repeated: readonly number[];
  #ahead: Lookahead | undefined;
  #next = 0;

  constructor(sequence: Sequence, contextLength: number) {
    const { request, tokens, lookup } = sequence;
    this.sequence = sequence;
    this.#ahead = request.constraint?.ahead?.();
    const isBlind = request.constraint?.mask && !this.#ahead;
    const room = isBlind ? 0 : finalLengthOf(request, contextLength) - tokens.length - 1;
    this.#room = Math.max(0, Math.min(MOST_GUESSES, room));
    this.#repeated = lookup.guess(this.#room);
    this.#findNext();
  }

  /** Makes the next guess. Returns false, with no guess from here on, if none can be checked behind it. */
  take(): boolean {
    const ahead = this.#ahead?.after(this.#next);
    if (this.#ahead && !ahead) {
      this.probability = 0;
      return false;
    }
    if (this.probability === 1) this.numCertain += 1;
    this.#guessedTokenIds.push(this.#next);
    this.#areForced.push(this.#ahead?.forced !== undefined);
    this.#guessedMasks.push(ahead?.mask);
    this.#ahead = ahead;
    this.#findNext();
    return true;
  }

  /** Keeps the guesses so far. */
  keep(): void {
    this.numKept = this.#guessedTokenIds.length;
  }

  keepCertain(): void {
    this.numKept = this.numCertain;
  }

  get kept(): Guessed {
    return {
      guessedTokenIds: this.#guessedTokenIds.slice(0, this.numKept),
      guessedMasks: this.#guessedMasks.slice(0, this.numKept),
      areForced: this.#areForced.slice(0, this.numKept),
    };
  }

  #findNext(): void {
    const { length } = this.#guessedTokenIds;
    const { forced, mask } = this.#ahead ?? {};
    if (forced !== undefined && forced !== this.#repeated[length]) this.#repeated = [];
    const next = forced ?? this.#repeated[length];
    if (next === undefined || length === this.#room || (mask && !isAllowed(mask, next))) {
      this.probability = 0;
      return;
    }
    this.#next = next;
    if (forced === undefined) this.probability *= this.sequence.lookup.hitRate;
  }
}
