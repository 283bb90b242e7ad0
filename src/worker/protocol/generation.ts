import * as v from 'valibot';
import type { RequestTimings } from '../../batching/generation/events.ts';
import type { FinishReason } from '../../batching/generation/request.ts';
import type { PromptTokenLogprobs, TokenLogprobs } from '../../batching/sampling/logprobs.ts';
import { count, duration, tokenIds, type Wire } from './wire.ts';

export type { PromptTokenLogprobs, TokenLogprobs } from '../../batching/sampling/logprobs.ts';
export type { FinishReason } from '../../batching/generation/request.ts';

/** The deployment that every worker has. */
export const TEXT_GENERATOR = 'text-generator';

/** Continuations of one request at most. */
export const MAX_CHOICES = 16;

/** Per-request options; what is left out comes from the model's `generation_config.json`. */
export interface GenerationOptions {
  /**
   * Tokens to generate at most. Integer from 0 to the context length: with 0 the prompt is computed, say for its logprobs, and
   * nothing is generated.
   */
  readonly maxNewTokens?: number;
  /** 0 = greedy. Finite, >= 0. */
  readonly temperature?: number;
  /** Keep the k most likely tokens; 0 = all. Integer >= 0. */
  readonly topK?: number;
  /** Keep the smallest set of most likely tokens whose probability reaches p. In (0, 1]. */
  readonly topP?: number;
  /** Keep tokens at least this fraction as likely as the likeliest; 0 = all. In [0, 1]. */
  readonly minP?: number;
  /** Makes tokens that prompt or output hold less likely; 1 = off, below 1 more likely. From 0.01 to 100. */
  readonly repetitionPenalty?: number;
  /** Subtracted from the logits of tokens that the output holds; 0 = off. In [-2, 2]. */
  readonly presencePenalty?: number;
  /** Subtracted from a token's logit for each time that the output holds it; 0 = off. In [-2, 2]. */
  readonly frequencyPenalty?: number;
  /** Token id -> what is added to its logit, -100 to 100; at most 300 entries. */
  readonly logitBias?: Readonly<Record<string, number>>;
  /** Logprobs of each output token and of this many of the likeliest. Integer from 0 to 20; none when left out. */
  readonly logprobs?: number;
  /**
   * Logprobs of each prompt token and of this many of the likeliest in its place. Integer from 0 to 20; none when left out. The
   * prompt is then computed in whole, even where the K/V cache holds a part of it.
   */
  readonly promptLogprobs?: number;
  /**
   * The text ends before the first of these strings, wherever token borders are: a string, or a list of at most 16, each of
   * 1 to 256 characters.
   */
  readonly stop?: string | readonly string[];
  /** Tokens that end the text, besides the model's end token: at most 300 ids. The text ends before them. */
  readonly stopTokenIds?: readonly number[];
  /** Whether a stop string or stop token that ends the text is its last part; false when left out. */
  readonly includeStopStrInOutput?: boolean;
  /**
   * Tokens to generate before the end token, a stop token or a stop string may end the text: until then the former two are not
   * sampled. Integer from 0 to `maxNewTokens`; 0 when left out.
   */
  readonly minTokens?: number;
  /** Whether the text goes on after the model's end token, which is then a token like any other, without a text. */
  readonly ignoreEos?: boolean;
  /**
   * Continuations of the prompt, each with a seed of its own: the first with `seed`, the others with seeds derived from it.
   * Integer from 1 to 16.
   */
  readonly n?: number;
  /** The stream of each continuation begins with the prompt, as a chunk without tokens; the result's `text` does in any case. */
  readonly echo?: boolean;
  /**
   * Which waiting request starts first, whichever tab it is from: lower before higher, in turn among equals. What runs is not
   * interrupted; what has a high number may wait for ever. Integer from -100 to 100; 0 where left out.
   */
  readonly priority?: number;
  /**
   * The request ends with RequestTimeoutError where it has not ended so many ms after its submission, waiting or running.
   * Finite, > 0.
   */
  readonly timeoutMs?: number;
  /**
   * Same seed, prompt and options: same text. Any integer, of which the last 32 bits count (the remainder modulo 2^32); chosen for
   * the caller when left out.
   */
  readonly seed?: number;
}

export const finishReason: v.GenericSchema<unknown, FinishReason> = v.picklist([
  'stop',
  'length',
  'abort',
  'error',
]);

const logprob = v.object({ tokenId: count, logprob: v.number() });

/** One entry per output token. */
export const logprobs: v.GenericSchema<unknown, readonly TokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.number(), top: v.array(logprob) }),
);

/** One entry per prompt token; the first has no logprob. */
export const promptLogprobs: v.GenericSchema<unknown, readonly PromptTokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.nullable(v.number()), top: v.array(logprob) }),
);

const choiceEntries = {
  /** The prompt followed by the continuation. */
  text: v.string(),
  generatedText: v.string(),
  /**
   * All sampled tokens but the end token, those of a stop string included. An upstream may send none: of the known servers
   * only vLLM does.
   */
  tokenIds,
  /** One entry per token id, where they were asked for. */
  logprobs: v.exactOptional(logprobs),
  /** One entry per prompt token, where they were asked for; the first has no logprob. */
  promptLogprobs: v.exactOptional(promptLogprobs),
  finishReason,
  /** The seed that was used; it repeats this text alone. An upstream derives the seeds of further continuations itself. */
  seed: count,
};
const generationChoice = v.object(choiceEntries);
/** One continuation of a prompt. */
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
  usage: v.object({ numPromptTokens: count, numOutputTokens: count }),
  /**
   * From the first start and the first token to the end of the last continuation; TPOT is that of the longest. A request at an
   * upstream starts when the upstream takes it, whether or not it waits there.
   */
  timings,
});
/** The answer to a prompt. The first of several continuations stands here as if it were alone. */
export type GenerationResult = Wire<typeof generationResult>;
