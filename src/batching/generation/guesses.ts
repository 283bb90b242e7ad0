import { isAllowed, type TokenMask } from '../sampling/token-mask.ts';
import type { StepRow } from './model-runner.ts';
import type { Lookahead } from './request.ts';
import { finalLengthOf, type Sequence } from './sequence.ts';
import { StepCosts } from './step-costs.ts';

/** Tokens that are guessed at once for a sequence. Later ones are rarely right, and never cheaper. */
export const MOST_GUESSES = 15;

/** A guess is made if it brings so many times what it costs: rates and costs are estimates. */
const LEAST_GAIN = 1.1;

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
    const chosen = new Map<Sequence, Guessed>();
    if (this.#maxTokens === 0) return chosen;
    const texts = sequences.map((sequence) => new GuessedText(sequence, contextLength));
    const { stepMs, tokenMs } = this.#costs.of(sequences.length);
    let expected = sequences.length;
    let ms = stepMs;
    let numTokens = 0;
    while (numTokens < this.#maxTokens) {
      const surest = surestOf(texts);
      if (!surest || surest.probability === 0) break;
      const isWorthIt = surest.probability * ms > LEAST_GAIN * tokenMs * expected;
      if (!isWorthIt && !this.#isTried(surest)) break;
      const { sequence, probability } = surest;
      if (!surest.take()) continue;
      chosen.set(sequence, surest);
      numTokens += 1;
      expected += probability;
      ms += tokenMs;
    }
    if (numTokens > 0) this.#numRefusals = 0;
    return chosen;
  }

  #isTried({ probability, guessedTokenIds }: GuessedText): boolean {
    if (probability < 1) return false;
    if (guessedTokenIds.length === 0) this.#numRefusals += 1;
    return this.#numRefusals > MOST_REFUSALS;
  }
}

function surestOf(texts: readonly GuessedText[]): GuessedText | undefined {
  const [first, ...others] = texts;
  return others.reduce((best, text) => (best && text.probability > best.probability ? text : best), first);
}

/** How a sequence may go on: with the tokens that its constraint forces, and else with those that followed the same tokens before. */
class GuessedText implements Guessed {
  readonly sequence: Sequence;
  readonly guessedTokenIds: number[] = [];
  readonly guessedMasks: (TokenMask | undefined)[] = [];
  readonly areForced: boolean[] = [];
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
    this.guessedTokenIds.push(this.#next);
    this.areForced.push(this.#ahead?.forced !== undefined);
    this.guessedMasks.push(ahead?.mask);
    this.#ahead = ahead;
    this.#findNext();
    return true;
  }

  #findNext(): void {
    const { length } = this.guessedTokenIds;
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
