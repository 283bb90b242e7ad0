import { StepCosts } from './step-costs.ts';
import { finalLengthOf, type Sequence } from './sequence.ts';

/** Tokens that are guessed at once for a sequence. Later ones are rarely right, and never cheaper. */
const MOST_GUESSES = 15;

/** A guess that may be made, behind those before it. */
interface Candidate {
  readonly sequence: Sequence;
  readonly tokenId: number;
  /** That it and those before it are right. */
  readonly probability: number;
}

/**
 * Chooses which guesses a decode step checks: those that bring more tokens for their time than the step does without them. So where
 * further tokens cost as much as they bring, or guesses fail, there are none.
 */
export class Guesses {
  readonly #costs = new StepCosts();
  readonly #maxTokens: number;

  /** @param maxTokens That one step may check. */
  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  /** @param ms How long a decode step took that was fed so many tokens. */
  measure(numTokens: number, ms: number): void {
    this.#costs.measure(numTokens, ms);
  }

  /** The guesses of these sequences, which decode together. */
  choose(sequences: readonly Sequence[], contextLength: number): ReadonlyMap<Sequence, readonly number[]> {
    const chosen = new Map<Sequence, number[]>();
    if (this.#maxTokens === 0 || sequences.length === 0) return chosen;
    const candidates = sequences
      .flatMap((sequence) => candidatesOf(sequence, contextLength))
      .toSorted((a, b) => b.probability - a.probability)
      .slice(0, this.#maxTokens);
    const { stepMs, tokenMs } = this.#costs.of(sequences.length);
    let expected = sequences.length;
    let ms = stepMs;
    for (const { sequence, tokenId, probability } of candidates) {
      if (probability * ms <= tokenMs * expected) break;
      expected += probability;
      ms += tokenMs;
      const guesses = chosen.get(sequence);
      if (guesses) guesses.push(tokenId);
      else chosen.set(sequence, [tokenId]);
    }
    return chosen;
  }
}

/** In order: a guess is never likelier than the one before it. */
function candidatesOf(sequence: Sequence, contextLength: number): readonly Candidate[] {
  const { request, tokens, lookup } = sequence;
  // Which tokens a mask allows is known once the token before is.
  if (request.constraint?.mask) return [];
  const room = finalLengthOf(request, contextLength) - tokens.length - 1;
  const { hitRate } = lookup;
  return lookup
    .guess(Math.max(0, Math.min(MOST_GUESSES, room)))
    .map((tokenId, index) => ({ sequence, tokenId, probability: hitRate ** (index + 1) }));
}
