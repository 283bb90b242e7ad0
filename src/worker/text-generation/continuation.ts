import type {
  FinishReason,
  GenerationChoice,
  PromptTokenLogprobs,
  RequestId,
  ResumedChoice,
  TokenLogprobs,
} from '../protocol/protocol.ts';
import type { TextStream } from './text-stream.ts';
import type { EndOptions } from './generation-options.ts';
import { StopMatcher } from './stop-matcher.ts';

export interface ContinuationOptions {
  /** Which of its request's continuations this is, from 0. */
  readonly index: number;
  /** Its name in the engine. */
  readonly sequenceId: RequestId;
  readonly seed: number;
  readonly stream: TextStream;
  readonly ending: EndOptions;
  readonly hasLogprobs: boolean;
}

/** A continuation while it is made: tokens go in, and text comes out as far as it can be shown. */
export class Continuation {
  readonly index: number;
  readonly sequenceId: RequestId;
  readonly seed: number;
  readonly #stream: TextStream;
  readonly #stops: StopMatcher;
  readonly #ending: EndOptions;
  readonly #tokenIds: number[] = [];
  readonly #logprobs: TokenLogprobs[] | undefined;
  /** Of the prompt, once it is scored. */
  promptLogprobs: readonly PromptTokenLogprobs[] | undefined;
  /** All that came out, whether it was taken or not. */
  #generatedText = '';
  #numTaken = 0;
  #finishReason: FinishReason | undefined;
  #numOutputTokens = 0;

  constructor({ index, sequenceId, seed, stream, ending, hasLogprobs }: ContinuationOptions) {
    this.index = index;
    this.sequenceId = sequenceId;
    this.seed = seed;
    this.#stream = stream;
    this.#ending = ending;
    this.#stops = new StopMatcher(ending.stop, ending.includeStopStrInOutput);
    this.#logprobs = hasLogprobs ? [] : undefined;
  }

  get hasEnded(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Once it has ended: the end token is counted. */
  get numOutputTokens(): number {
    return this.#numOutputTokens;
  }

  /**
   * Takes in what a lost worker has made: its tab has the text. Inside a character or a stop string, this one goes on where
   * the lost one was.
   */
  resume({ tokenIds, logprobs = [], promptLogprobs, finishReason }: ResumedChoice): void {
    this.promptLogprobs = promptLogprobs;
    for (const tokenId of tokenIds) this.push(tokenId);
    this.#logprobs?.push(...logprobs);
    const isAtEndToken = finishReason === 'stop' && !this.#stops.isStopped && !this.#isAtStopToken;
    if (finishReason) this.end(finishReason, tokenIds.length + (isAtEndToken ? 1 : 0));
    this.takeText();
  }

  /** Takes in a token; true where its text completes a stop string. */
  push(tokenId: number): boolean {
    this.#tokenIds.push(tokenId);
    const mayStop = this.#tokenIds.length > this.#ending.minTokens;
    this.#generatedText += this.#stops.push(this.#stream.push(tokenId), mayStop);
    return this.#stops.isStopped;
  }

  pushLogprobs(logprobs: TokenLogprobs): void {
    this.#logprobs?.push(logprobs);
  }

  /** What came out since it was last asked. */
  takeText(): string {
    const text = this.#generatedText.slice(this.#numTaken);
    this.#numTaken = this.#generatedText.length;
    return text;
  }

  /** No token comes any more: what was held back comes out. Returns why the text ends, which may be a stop string in that. */
  end(finishReason: FinishReason, numOutputTokens: number): FinishReason {
    this.#generatedText += this.#stops.push(this.#stream.end()) + this.#stops.end();
    this.#finishReason = this.#stops.isStopped ? 'stop' : finishReason;
    this.#numOutputTokens = numOutputTokens;
    return this.#finishReason;
  }

  /** Whether its last token is one that the text ends with. */
  get #isAtStopToken(): boolean {
    const { stopTokenIds, includeStopStrInOutput } = this.#ending;
    return includeStopStrInOutput && stopTokenIds.includes(this.#tokenIds.at(-1) ?? -1);
  }

  /** What it has come to, after its end. */
  toChoice(prompt: string): GenerationChoice {
    if (!this.#finishReason) throw new Error(`Continuation ${this.sequenceId} has not ended.`);
    return {
      text: prompt + this.#generatedText,
      generatedText: this.#generatedText,
      tokenIds: this.#tokenIds,
      ...(this.#logprobs && { logprobs: this.#logprobs }),
      ...(this.promptLogprobs && { promptLogprobs: this.promptLogprobs }),
      finishReason: this.#finishReason,
      seed: this.seed,
    };
  }
}
