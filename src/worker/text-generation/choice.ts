import type {
  FinishReason,
  GenerationChoice,
  PromptTokenLogprobs,
  TokenLogprobs,
} from '../../protocol/generation.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { ResumedChoice } from '../../protocol/requests.ts';
import type { ResolvedOptions } from '../../protocol/resolve-options.ts';
import { joinParts, type AnswerPart } from '../../protocol/answers.ts';
import type { AnswerParser } from './answers/answer-parser.ts';
import { StopMatcher } from './stop-matcher.ts';
import type { ByteTextStream } from '../models/tokenizer/text-stream.ts';
import type { Lookahead, TokenConstraint } from '../../batching/generation/request.ts';
import { emptyMask, forbidToken } from '../../batching/sampling/token-mask.ts';

export interface ChoiceOptions {
  /** From 0, within its request. */
  readonly index: number;
  /** Its ID in the engine. */
  readonly sequenceId: RequestId;
  readonly seed: number;
  readonly stream: ByteTextStream;
  readonly ending: ResolvedOptions['ending'];
  readonly hasLogprobs: boolean;
  /** Whether nobody reads the text before its end. */
  readonly isReadAtEnd: boolean;
  /** Undefined for text alone. */
  readonly parser: AnswerParser | undefined;
}

/** The text of one sequence. Takes tokens, and releases text once it cannot be part of a stop string. */
export class Choice {
  readonly index: number;
  readonly sequenceId: RequestId;
  readonly seed: number;
  readonly #stream: ByteTextStream;
  readonly #stops: StopMatcher;
  readonly #ending: ResolvedOptions['ending'];
  readonly #tokenIds: number[] = [];
  readonly #logprobs: TokenLogprobs[] | undefined;
  /** Set once the prompt is scored. */
  promptLogprobs: readonly PromptTokenLogprobs[] | undefined;
  #generatedText = '';
  /** Characters of the text that `take` has returned. */
  #numTaken = 0;
  readonly #parser: AnswerParser | undefined;
  readonly #parts: AnswerPart[] = [];
  /** Whether its tokens are decoded at the end: no stop string looks at their text. */
  readonly #isDecodedAtEnd: boolean;
  #finishReason: FinishReason | undefined;
  /** Set at the end; it includes the end token. */
  numOutputTokens = 0;

  constructor(options: ChoiceOptions) {
    const { index, sequenceId, seed, stream, ending, hasLogprobs, isReadAtEnd, parser } = options;
    this.index = index;
    this.sequenceId = sequenceId;
    this.seed = seed;
    this.#stream = stream;
    this.#ending = ending;
    this.#stops = new StopMatcher(ending.stop, ending.includeStopStrInOutput);
    this.#logprobs = hasLogprobs ? [] : undefined;
    this.#parser = parser;
    this.#isDecodedAtEnd = isReadAtEnd && ending.stop.length === 0;
  }

  /** Without the end token. */
  get numTokens(): number {
    return this.#tokenIds.length;
  }

  get hasEnded(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * Adds the tokens of a lost worker, whose text the tab has. The decoder and the stop matcher continue from the state of the lost
   * worker, even inside a character or a stop string.
   */
  resume({ tokenIds, logprobs = [], promptLogprobs, finishReason }: ResumedChoice): void {
    this.promptLogprobs = promptLogprobs;
    for (const tokenId of tokenIds) this.push(tokenId);
    this.#logprobs?.push(...logprobs);
    const isAtEndToken = finishReason === 'stop' && !this.#stops.isStopped && !this.#isAtStopToken;
    if (finishReason) this.end(finishReason, tokenIds.length + (isAtEndToken ? 1 : 0));
    this.take();
  }

  /** Adds a token. Returns whether its text completes a stop string. */
  push(tokenId: number): boolean {
    this.#tokenIds.push(tokenId);
    if (this.#isDecodedAtEnd) return false;
    const mayStop = this.#tokenIds.length > this.#ending.minTokens;
    this.#generatedText += this.#stops.push(this.#stream.push(tokenId), mayStop);
    return this.#stops.isStopped;
  }

  pushLogprobs(logprobs: TokenLogprobs): void {
    this.#logprobs?.push(logprobs);
  }

  /** The text since the last call, and the parts of the answer that are certain by it. */
  take(): { readonly text: string; readonly parts?: readonly AnswerPart[] } {
    const text = this.#generatedText.slice(this.#numTaken);
    this.#numTaken = this.#generatedText.length;
    if (!this.#parser) return { text };
    const isCut = this.#finishReason === 'length';
    const parts = [...this.#parser.push(text), ...(this.hasEnded ? this.#parser.end(isCut) : [])];
    this.#parts.push(...parts);
    return { text, parts };
  }

  /** Releases the held text, which may complete a stop string. Returns why the text ends. */
  end(finishReason: FinishReason, numOutputTokens: number): FinishReason {
    if (this.#isDecodedAtEnd)
      this.#generatedText = this.#tokenIds.map((tokenId) => this.#stream.push(tokenId)).join('');
    this.#generatedText += this.#stops.push(this.#stream.end()) + this.#stops.end();
    this.#finishReason = this.#stops.isStopped ? 'stop' : finishReason;
    this.numOutputTokens = numOutputTokens;
    return this.#finishReason;
  }

  /** Call it after the end. */
  toResult(prompt: string): GenerationChoice {
    if (!this.#finishReason) throw new Error(`Sequence ${this.sequenceId} has not ended.`);
    return {
      text: prompt + this.#generatedText,
      generatedText: this.#generatedText,
      tokenIds: this.#tokenIds,
      ...(this.#logprobs && { logprobs: this.#logprobs }),
      ...(this.promptLogprobs && { promptLogprobs: this.promptLogprobs }),
      ...(this.#parser && { answer: joinParts(this.#parts) }),
      finishReason: this.#finishReason,
      ...(this.#stops.found !== undefined && { stopString: this.#stops.found }),
      seed: this.seed,
    };
  }

  /** Whether its last token is a stop token, which is then part of the text. */
  get #isAtStopToken(): boolean {
    const { stopTokenIds, includeStopStrInOutput } = this.#ending;
    return includeStopStrInOutput && stopTokenIds.includes(this.#tokenIds.at(-1) ?? -1);
  }
}

/** The tokens of the model that a constraint has to know. */
interface KnownTokens {
  readonly vocabSize: number;
  /** Tokens that would end the text. */
  readonly endTokenIds: readonly number[];
}

/**
 * Ends a choice at its stop strings. Until it has `minTokens`, tokens that would end it are masked. Beside a shape, which alone
 * decides where the text may end, there is no such minimum.
 */
export function constraintOf(
  choice: Choice,
  minTokens: number,
  { vocabSize, endTokenIds }: KnownTokens,
  shape?: TokenConstraint,
): TokenConstraint {
  const push = (tokenId: number): boolean => choice.push(tokenId);
  if (shape) {
    return {
      accept: async (tokenId) => {
        const isStopped = push(tokenId);
        return (await shape.accept(tokenId)) || isStopped;
      },
      mask: () => shape.mask?.(),
      forced: () => shape.forced?.() ?? [],
      ahead: () => shape.ahead?.(),
    };
  }
  if (minTokens === 0) return { accept: push };
  const mask = emptyMask(vocabSize).fill(0xffff_ffff);
  for (const tokenId of endTokenIds) forbidToken(mask, tokenId);
  const aheadAt = (numTokens: number): Lookahead => ({
    mask: numTokens < minTokens ? mask : undefined,
    forced: undefined,
    after: () => aheadAt(numTokens + 1),
  });
  const ahead = (): Lookahead => aheadAt(choice.numTokens);
  return { accept: push, mask: () => ahead().mask, ahead };
}
