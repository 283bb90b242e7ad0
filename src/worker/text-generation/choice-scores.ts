import { InvalidOptionError, ResponseFormatUnsupportedError } from '../../batching/base/errors.ts';
import type { RequestEvent } from '../../batching/generation/events.ts';
import {
  GREEDY,
  type GenerationRequest,
  type TokenConstraint,
  type Lookahead,
} from '../../batching/generation/request.ts';
import type { SamplingParams } from '../../batching/options/sampling-options.ts';
import { createSampler } from '../../batching/sampling/sampling.ts';
import type { RequestId } from '../../protocol/ids.ts';
import { sequenceIdOf } from '../../protocol/sequence-id.ts';
import type { Tokenizer } from '../models/tokenizer/tokenizer.ts';
import { allowToken, emptyMask, type TokenMask } from '../../batching/sampling/token-mask.ts';

const encoder = new TextEncoder();

/** Less likely than any text, but not impossible. */
const SMALLEST_SCORE = -1e30;

/** One of the texts that an answer may be. */
interface ScoredText {
  /** The ID of the sequence that scores it. */
  readonly sequenceId: RequestId;
  /** Both its score and its output are of these. */
  readonly tokenIds: readonly number[];
}

/** How likely the model finds each text behind the prompt. The tokens of each are given, and their logprobs are summed. */
export class ChoiceScores {
  readonly #texts: readonly ScoredText[];
  readonly #vocabSize: number;
  /** Sums of the logprobs of each text's tokens. */
  readonly #scores = new Map<RequestId, number>();
  readonly #ended = new Set<RequestId>();

  /**
   * @param firstIndex Of its sequences within the request.
   * @throws ResponseFormatUnsupportedError
   */
  constructor(
    choices: readonly string[],
    requestId: RequestId,
    firstIndex: number,
    { tokenizer, vocabSize }: { readonly tokenizer: Tokenizer; readonly vocabSize: number },
  ) {
    this.#vocabSize = vocabSize;
    this.#texts = choices.map((choice, index) => ({
      sequenceId: sequenceIdOf(requestId, firstIndex + index),
      tokenIds: tokenIdsOf(choice, index, tokenizer),
    }));
  }

  /** Of the longest text, in tokens. */
  get length(): number {
    return Math.max(...this.#texts.map(({ tokenIds }) => tokenIds.length));
  }

  /** @param request Whose place in the queue the sequences have. */
  requestsFor(request: Pick<GenerationRequest, 'clientId' | 'promptTokenIds'>): readonly GenerationRequest[] {
    return this.#texts.map(({ sequenceId, tokenIds }) => ({
      ...request,
      id: sequenceId,
      maxNewTokens: tokenIds.length,
      ignoreEos: true,
      isScore: true,
      constraint: new ChosenText(this.#vocabSize, () => tokenIds),
      sampling: { ...GREEDY, logprobs: 0 },
    }));
  }

  /** Whether the prompt has been read. */
  get hasBegun(): boolean {
    return this.#scores.size > 0;
  }

  get hasEnded(): boolean {
    return this.#ended.size === this.#texts.length;
  }

  get liveIds(): readonly RequestId[] {
    return this.#texts.map(({ sequenceId }) => sequenceId).filter((id) => !this.#ended.has(id));
  }

  /** Takes an event of one of its sequences. */
  apply(event: RequestEvent): void {
    const text = this.#texts.find(({ sequenceId }) => sequenceId === event.requestId);
    if (text && event.type === 'token-scored')
      this.#scores.set(text.sequenceId, (this.#scores.get(text.sequenceId) ?? 0) + event.logprobs.logprob);
    if (text && event.type === 'finished') this.#ended.add(text.sequenceId);
  }

  /**
   * In the order of the texts. They add up to 1. A text that begins a longer one counts without the share of that.
   */
  get probabilities(): readonly number[] {
    const scores = this.#texts.map(({ sequenceId }) => this.#scores.get(sequenceId) ?? -Infinity);
    const largest = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - largest));
    const longestFirst = [...this.#texts.entries()].toSorted(
      ([, one], [, other]) => other.tokenIds.length - one.tokenIds.length,
    );
    for (const [place, [index, { tokenIds }]] of longestFirst.entries())
      for (const [longer, text] of longestFirst.slice(0, place))
        if (isBegun(text.tokenIds, tokenIds))
          weights[index] = Math.max(0, (weights[index] ?? 0) - (weights[longer] ?? 0));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  }

  /**
   * Follows one text, drawn by its probability as if each were a token of its own: at temperature 0 the likeliest. It may start
   * after the end.
   *
   * @param prior The tokens that it has already.
   * @throws InvalidOptionError if they begin no text.
   */
  follow(sampling: SamplingParams, prior: readonly number[]): TokenConstraint {
    if (!this.#texts.some(({ tokenIds }) => isBegun(tokenIds, prior)))
      throw InvalidOptionError.of('resumption.tokenIds', 'the first tokens of a choice', prior);
    return new ChosenText(this.#vocabSize, () => this.#draw(sampling, prior).slice(prior.length));
  }

  #draw(
    { temperature, topK, topP, minP, seed }: SamplingParams,
    prior: readonly number[],
  ): readonly number[] {
    const { probabilities } = this;
    const fits = this.#texts.map(({ tokenIds }) => isBegun(tokenIds, prior));
    const largest = Math.max(...probabilities.filter((_, index) => fits[index]));
    // Relative to the largest, so that rounding to 32 bits makes no other one equal to it.
    const logits = probabilities.map((probability, index) =>
      fits[index] ? Math.max(Math.log(probability / (largest || 1)), SMALLEST_SCORE) : -Infinity,
    );
    const params = { ...GREEDY, temperature, topK, topP, minP, seed };
    const sample = createSampler(logits.length);
    const { tokenId } = sample(Float32Array.from(logits), { params, position: 0, tokenCounts: new Map() });
    return this.#texts[tokenId]?.tokenIds ?? [];
  }
}

/**
 * The tokens of a choice where it follows other text. Some tokenizers put a space before each text: there it is read behind a line
 * break.
 */
function tokenIdsOf(choice: string, index: number, tokenizer: Tokenizer): readonly number[] {
  const bytes = encoder.encode(choice);
  for (const text of [choice, `\n${choice}`]) {
    const tokenIds = tokenizer.encode(text, false);
    const spellings = tokenIds.map((tokenId) => [...(tokenizer.vocabulary.bytesOf(tokenId) ?? [])]);
    let from = tokenIds.length;
    for (let length = 0; from > 0 && length < bytes.length; length += spellings[from]?.length ?? 0) from -= 1;
    if (String(spellings.slice(from).flat()) === String(bytes)) return tokenIds.slice(from);
  }
  throw ResponseFormatUnsupportedError.of(
    `responseFormat.choices[${index}]`,
    "can't be scored, since this model's tokenizer changes its characters",
    "write it as `text.normalize('NFC')` does, or leave `logprobs` out",
  );
}

/** Whether a text begins with these tokens, and goes on. */
function isBegun(tokenIds: readonly number[], beginning: readonly number[]): boolean {
  return tokenIds.length > beginning.length && beginning.every((each, index) => each === tokenIds[index]);
}

/** Follows one text of a choice, which is known before its first token is needed. So all of it is computed in one pass where that pays. */
class ChosenText implements TokenConstraint {
  readonly #vocabSize: number;
  readonly #draw: () => readonly number[];
  /** The tokens that are still to come; undefined before the text is drawn. */
  #rest: readonly number[] | undefined;

  /** @param draw Returns the tokens of the text that are still to come. */
  constructor(vocabSize: number, draw: () => readonly number[]) {
    this.#vocabSize = vocabSize;
    this.#draw = draw;
  }

  accept(): boolean {
    this.#rest = this.#drawn.slice(1);
    return this.#rest.length === 0;
  }

  mask(): TokenMask {
    return this.#maskOf(this.#drawn[0]);
  }

  ahead(): Lookahead {
    return this.#aheadOf(this.#drawn);
  }

  #aheadOf([forced, ...rest]: readonly number[]): Lookahead {
    const after = (): Lookahead | undefined => (rest.length > 0 ? this.#aheadOf(rest) : undefined);
    return { mask: this.#maskOf(forced), forced, after };
  }

  #maskOf(tokenId: number | undefined): TokenMask {
    const mask = emptyMask(this.#vocabSize);
    if (tokenId !== undefined) allowToken(mask, tokenId);
    return mask;
  }

  get #drawn(): readonly number[] {
    return (this.#rest ??= this.#draw());
  }
}
