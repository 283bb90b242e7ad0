import type { GenerationChunk } from '../../../src/client/index.ts';
import type {
  FinishReason,
  GenerationChoice,
  GenerationOptions,
  PromptTokenLogprobs,
  GenerationResult,
} from '../../../src/protocol/generation.ts';
import type { NamedToken } from '../../../src/protocol/openai/logprobs.ts';
import { wholeArguments } from './whole-arguments.ts';
import { TokenPlaces } from './token-places.ts';
import type { TokenTexts } from './token-texts.ts';
import type { StreamedUsage } from '../../../src/protocol/openai/generation-request.ts';

export type ChunkText = Pick<GenerationChunk, 'text' | 'parts'>;

/** How an endpoint writes generated text. */
export interface TextFormat<Content extends object> {
  /** The fields that a stream sends for a choice before its first token, if any. */
  readonly opening?: Content;
  /** The fields of each piece that a stream sends for a chunk; none for a chunk without text. */
  piecesOf(chunk: ChunkText): readonly Content[];
  /** A piece without text. */
  readonly empty: Content;
  /** @param placesOf Where the tokens begin in the choice's text. */
  logprobsOf(
    tokens: readonly NamedToken[],
    placesOf: () => Promise<readonly number[]>,
  ): object | Promise<object>;
}

/** Null where the text goes on. */
type ApiFinishReason = FinishReason | 'tool_calls' | null;

/** A part of a choice, as a stream sends it. */
type ChoicePart<Content extends object> = Content & {
  readonly index: number;
  readonly logprobs: object | null;
  readonly finish_reason: ApiFinishReason;
};

/** A part of a choice, with the choice's usage so far. */
export interface Piece<Content extends object> {
  readonly choice: ChoicePart<Content>;
  readonly used: Usage;
  /** Tokens of the prompt that were taken over from another request, as far as it is known. */
  readonly numCachedTokens: number;
}

interface ChoiceStreamOptions<Content extends object> {
  readonly format: TextFormat<Content>;
  readonly tokenTexts: TokenTexts;
  readonly options: GenerationOptions;
  /** The index of the response's first choice in the answer. */
  readonly firstIndex: number;
}

/** The pieces that a stream sends of one response's choices. */
export class ChoiceStream<Content extends object> {
  readonly #given: ChoiceStreamOptions<Content>;
  /** What was read of each choice. An echoed prompt's tokens do not count. */
  #read: { numTokens: number; lastArguments?: string; readonly places: TokenPlaces }[] = [];
  /** Choices that have no token yet. They wait for the first one: with it the prompt's length is known. */
  #held: ChoicePart<Content>[] = [];
  #numPromptTokens = 0;
  #numCachedTokens = 0;

  constructor(given: ChoiceStreamOptions<Content>) {
    this.#given = given;
  }

  /** Drops everything that was read: another model starts over. */
  restart(): void {
    [this.#read, this.#held] = [[], []];
  }

  /**
   * The pieces to send now.
   *
   * @param modelId Undefined while no model has started the request. Its chunks then come from a lost model, and are void.
   * @throws HttpError if another model serves by now.
   */
  async read(chunk: GenerationChunk, modelId: string | undefined): Promise<readonly Piece<Content>[]> {
    const { index, finishReason, promptLogprobs } = chunk;
    const { format, options, tokenTexts } = this.#given;
    const isFirst = !this.#read[index];
    const isPrompt = options.echo && isFirst;
    const read = (this.#read[index] ??= {
      numTokens: 0,
      places: new TokenPlaces(tokenTexts, options.echo ?? false),
    });
    for (const part of chunk.parts ?? []) {
      if (part.type === 'tool-call') read.lastArguments = '';
      if (part.type === 'tool-arguments') read.lastArguments += part.text;
    }
    const hasCalls = finishReason === 'stop' && isWhole(read.lastArguments);
    if (isFirst && format.opening) this.#held.push(this.#choiceOf(index, format.opening));
    this.#numPromptTokens = chunk.numPromptTokens ?? promptLogprobs?.length ?? this.#numPromptTokens;
    this.#numCachedTokens = chunk.numCachedTokens ?? this.#numCachedTokens;
    if (!isPrompt) read.numTokens += numTokensIn(chunk);
    const scored = scoredTokensOf(chunk, options);
    const contents = format.piecesOf(chunk);
    if (contents.length === 0 && !scored && !finishReason) return [];
    const choices = (contents.length > 0 ? contents : [format.empty]).map((content, at) =>
      this.#choiceOf(index, content, at < contents.length - 1 ? null : endOf(finishReason, hasCalls)),
    );
    if (modelId === undefined || (isPrompt && !scored)) {
      this.#held.push(...choices);
      return [];
    }
    const used = toUsage(this.#numPromptTokens, read.numTokens);
    const tokens = scored && (await tokenTexts.name(scored, modelId));
    const logprobs = tokens ? await format.logprobsOf(tokens, () => read.places.take(tokens, modelId)) : null;
    const pieces = choices.map((choice, at) => ({
      choice: at === 0 ? { ...choice, logprobs } : choice,
      used,
      numCachedTokens: this.#numCachedTokens,
    }));
    return [...this.#releaseHeld(), ...pieces];
  }

  #choiceOf(index: number, content: Content, end: ApiFinishReason = null): ChoicePart<Content> {
    return {
      index: this.#given.firstIndex + index,
      ...content,
      logprobs: null,
      finish_reason: end,
    };
  }

  #releaseHeld(): readonly Piece<Content>[] {
    const used = toUsage(this.#numPromptTokens, 0);
    const numCachedTokens = this.#numCachedTokens;
    return this.#held.splice(0).map((choice) => ({ choice, used, numCachedTokens }));
  }
}

function isWhole(json: string | undefined): boolean {
  return json !== undefined && wholeArguments(json, false) !== undefined;
}

/**
 * The reason of an end in OpenAI's terms; null where the text goes on.
 *
 * @param hasCalls Whether calls end it that no stop string has cut.
 */
export function endOf(finishReason: FinishReason | undefined, hasCalls: boolean): ApiFinishReason {
  return finishReason === 'stop' && hasCalls ? 'tool_calls' : (finishReason ?? null);
}

/** The tokens of a choice's text with their logprobs, those of an echoed prompt first. Undefined if none were asked for. */
export function scoredTokensOf(
  { promptLogprobs, logprobs }: Pick<GenerationChoice, 'promptLogprobs' | 'logprobs'>,
  { echo, logprobs: numLogprobs }: GenerationOptions,
): readonly PromptTokenLogprobs[] | undefined {
  if (numLogprobs === undefined || (!promptLogprobs && !logprobs)) return undefined;
  return [...((echo && promptLogprobs) || []), ...(logprobs ?? [])];
}

type Usage = ReturnType<typeof toUsage>;

/** The usage of a whole answer. */
export function usageOf(results: readonly GenerationResult[]) {
  const sum = (count: (result: GenerationResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  return {
    ...toUsage(
      sum(({ usage }) => usage.numPromptTokens),
      sum(({ usage }) => usage.numOutputTokens),
    ),
    prompt_tokens_details: { cached_tokens: sum(({ usage }) => usage.numCachedTokens) },
  };
}

function toUsage(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** The field `usage` of a chunk, if it has one. */
export function usageIn({ isIncluded, isContinuous }: StreamedUsage, usage: Usage): object {
  if (isContinuous) return { usage };
  return isIncluded ? { usage: null } : {};
}

/** An end token counts although no chunk has its id. Without ids, a target's chunk counts as one token. */
function numTokensIn({ tokenIds, text, finishReason }: GenerationChunk): number {
  return tokenIds.length || Number(text !== '' || finishReason === 'stop');
}
