import * as v from 'valibot';
import type { RequestTimings } from '../batching/generation/events.ts';
import type { FinishReason } from '../batching/generation/request.ts';
import type { PromptTokenLogprobs, TokenLogprobs } from '../batching/sampling/logprobs.ts';
import { answer, type Answer } from './answers.ts';
import { count, duration, tokenIds } from './wire.ts';

export type { RequestTimings } from '../batching/generation/events.ts';
export type { GenerationOptions } from '../batching/options/generation-options.ts';
export type {
  ChoiceFormat,
  GrammarFormat,
  JsonObjectFormat,
  JsonSchema,
  BegunFormat,
  JsonSchemaFormat,
  RegexFormat,
  ResponseFormat,
  StructuralPart,
  StructuralTag,
  StructuralTagFormat,
} from '../batching/options/response-format.ts';
export type { GenerationTool, ToolChoice } from '../batching/options/tools.ts';
export type { PromptTokenLogprobs, TokenLogprob, TokenLogprobs } from '../batching/sampling/logprobs.ts';
export type { FinishReason } from '../batching/generation/request.ts';

/** The name of the deployment that every worker has. */
export const TEXT_GENERATOR = 'text-generator';

export const finishReason: v.GenericSchema<unknown, FinishReason> = v.picklist(['stop', 'length']);

const logprob = v.object({ tokenId: count, logprob: v.number() });

/** One entry per output token, if requested. */
export const logprobs: v.GenericSchema<unknown, readonly TokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.number(), top: v.array(logprob) }),
);

/** One entry per prompt token, if requested. The first has no logprob. */
export const promptLogprobs: v.GenericSchema<unknown, readonly PromptTokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.nullable(v.number()), top: v.array(logprob) }),
);

/** One continuation of a prompt. */
export interface GenerationChoice {
  /** The prompt followed by the continuation; for a chat the answer alone. */
  readonly text: string;
  /** The continuation alone. */
  readonly generatedText: string;
  /**
   * All sampled tokens but the end token, including those of a stop string. A server may send none. Among the known servers,
   * only vLLM sends them.
   */
  readonly tokenIds: readonly number[];
  /** One entry per entry of `tokenIds`, if `logprobs` asked for them. */
  readonly logprobs?: readonly TokenLogprobs[];
  /** One entry per prompt token, if `promptLogprobs` asked for them. */
  readonly promptLogprobs?: readonly PromptTokenLogprobs[];
  /** The probability of each of the `choices` of a `responseFormat`, in their order, if `logprobs` is set. They add up to 1. */
  readonly choiceProbabilities?: readonly number[];
  /** The continuation taken apart: of a chat with tools, or with a model that may think before it answers. */
  readonly answer?: Answer;
  /** Why the continuation ended. */
  readonly finishReason: FinishReason;
  /** The stop string that ended it, if one did. A server may not say which. */
  readonly stopString?: string;
  /** The seed in use. It repeats only this text. A server derives the seeds of further continuations itself. */
  readonly seed: number;
}

/** The answer to a prompt. Its own fields are those of the first continuation. */
export interface GenerationResult extends GenerationChoice {
  /** All `n` continuations, including the first. */
  readonly choices: readonly GenerationChoice[];
  /**
   * Counts the prompt's tokens once, and the output tokens of all continuations. If a server reports no numbers, these are 0
   * and the number of its chunks.
   */
  readonly usage: {
    /** Tokens of the prompt, special ones included. */
    readonly numPromptTokens: number;
    /** The prompt's tokens whose keys and values came from another request. */
    readonly numCachedTokens: number;
    /** Sampled tokens, end tokens included. */
    readonly numOutputTokens: number;
  };
  /**
   * Measured at the first start, the first token and the end of the last continuation; TPOT is that of the longest one. A request
   * to a server starts when the server takes it, even if it waits there.
   */
  readonly timings: RequestTimings;
}

const choiceEntries = {
  text: v.string(),
  generatedText: v.string(),
  tokenIds,
  logprobs: v.exactOptional(logprobs),
  promptLogprobs: v.exactOptional(promptLogprobs),
  choiceProbabilities: v.exactOptional(v.array(v.number())),
  answer: v.exactOptional(answer),
  finishReason,
  stopString: v.exactOptional(v.string()),
  seed: count,
};

const timings: v.GenericSchema<unknown, RequestTimings> = v.object({
  queueWaitMs: duration,
  ttftMs: duration,
  e2eMs: duration,
  tpotMs: duration,
});

export const generationResult: v.GenericSchema<unknown, GenerationResult> = v.object({
  ...choiceEntries,
  choices: v.array(v.object(choiceEntries)),
  usage: v.object({ numPromptTokens: count, numCachedTokens: count, numOutputTokens: count }),
  timings,
});
