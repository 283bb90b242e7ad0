import type { FinishReason, TokenLogprobs } from '../protocol.ts';
import type { TextStream } from '../model/text-stream.ts';
import { StopMatcher } from './stop-matcher.ts';

/** What a continuation has come to. */
export interface ContinuationEnd {
  /** What its chunks have not shown yet. */
  readonly rest: string;
  readonly generatedText: string;
  readonly finishReason: FinishReason;
  readonly logprobs: readonly TokenLogprobs[] | undefined;
}

/** A continuation while it is made: tokens go in, and text comes out as far as it can be shown. */
export class Continuation {
  readonly #stream: TextStream;
  readonly #stops: StopMatcher;
  /** All that came out, whether it was taken or not. */
  #generatedText = '';
  #numTaken = 0;
  readonly #logprobs: TokenLogprobs[] | undefined;

  constructor(stream: TextStream, stopStrings: readonly string[], hasLogprobs: boolean) {
    this.#stream = stream;
    this.#stops = new StopMatcher(stopStrings);
    this.#logprobs = hasLogprobs ? [] : undefined;
  }

  /**
   * Takes in what a lost worker has made: its tab has the text. Inside a character or a stop string, this one goes on where
   * the lost one was.
   */
  resume(tokenIds: readonly number[], logprobs: readonly TokenLogprobs[] = []): void {
    for (const tokenId of tokenIds) this.push(tokenId);
    this.#logprobs?.push(...logprobs);
    this.takeText();
  }

  /** Takes in a token; true where its text completes a stop string. */
  push(tokenId: number): boolean {
    this.#generatedText += this.#stops.push(this.#stream.push(tokenId));
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

  /** No token comes any more: what was held back comes out. */
  end(finishReason: FinishReason): ContinuationEnd {
    this.#generatedText += this.#stops.push(this.#stream.end()) + this.#stops.end();
    return {
      rest: this.takeText(),
      generatedText: this.#generatedText,
      finishReason: this.#stops.isStopped ? 'stop' : finishReason,
      logprobs: this.#logprobs,
    };
  }
}
