import * as v from 'valibot';
import type { RequestTimings } from '../../batching/generation/events.ts';
import type { FinishReason } from '../../batching/generation/request.ts';
import type { PromptTokenLogprobs, TokenLogprobs } from '../../batching/sampling/logprobs.ts';
import { count, duration, tokenIds, type Wire } from './wire.ts';

export type { RequestTimings } from '../../batching/generation/events.ts';
export type { GenerationOptions } from '../../batching/generation/options.ts';
export type { PromptTokenLogprobs, TokenLogprob, TokenLogprobs } from '../../batching/sampling/logprobs.ts';
export type { FinishReason } from '../../batching/generation/request.ts';

/** The name of the deployment that every worker has. */
export const TEXT_GENERATOR = 'text-generator';

export const finishReason: v.GenericSchema<unknown, FinishReason> = v.picklist([
  'stop',
  'length',
  'abort',
  'error',
]);

const logprob = v.object({ tokenId: count, logprob: v.number() });

/** One entry per output token, where they were asked for. */
export const logprobs: v.GenericSchema<unknown, readonly TokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.number(), top: v.array(logprob) }),
);

/** One entry per prompt token, where they were asked for; the first has no logprob. */
export const promptLogprobs: v.GenericSchema<unknown, readonly PromptTokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.nullable(v.number()), top: v.array(logprob) }),
);

const choiceEntries = {
  /** The prompt followed by the continuation; for a chat the answer alone. */
  text: v.string(),
  /** The continuation alone. */
  generatedText: v.string(),
  /**
   * All sampled tokens but the end token, those of a stop string included. An upstream may send none: of the known servers
   * only vLLM does.
   */
  tokenIds,
  /** One entry per entry of `tokenIds`, if `logprobs` asked for them. */
  logprobs: v.exactOptional(logprobs),
  /** One entry per prompt token, if `promptLogprobs` asked for them. */
  promptLogprobs: v.exactOptional(promptLogprobs),
  /** Why the continuation ended. */
  finishReason,
  /** The seed that was used; it repeats this text alone. An upstream derives the seeds of further continuations itself. */
  seed: count,
};
const generationChoice = v.object(choiceEntries);
/**
 * One continuation of a prompt.
 *
 * @interface
 */
export type GenerationChoice = Wire<typeof generationChoice>;

const timings: v.GenericSchema<unknown, RequestTimings> = v.object({
  queueWaitMs: duration,
  ttftMs: duration,
  e2eMs: duration,
  tpotMs: duration,
});

export const generationResult = v.object({
  ...choiceEntries,
  /** All continuations, the first included: as many as `n`. */
  choices: v.array(generationChoice),
  /**
   * The prompt's tokens once, the output tokens of all continuations. For an upstream that reports no numbers: 0, and the
   * number of its chunks.
   */
  usage: v.object({
    /** Tokens of the prompt, special ones included. */
    numPromptTokens: count,
    /** The prompt's tokens whose keys and values were taken over from another request. */
    numCachedTokens: count,
    /** Sampled tokens, end tokens included. */
    numOutputTokens: count,
  }),
  /**
   * The first start, the first token, the end of the last continuation, and the TPOT of the longest. A request at an upstream
   * starts when the upstream takes it, even if it waits there.
   */
  timings,
});
/**
 * The answer to a prompt. The first of several continuations stands here as if it were alone.
 *
 * @interface
 */
export type GenerationResult = Wire<typeof generationResult>;
