import type { TokenCounts } from '../sampling/adjust-logits.ts';
import type { KvCacheLimits, KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';
import type { TokenLogprobs } from '../sampling/logprobs.ts';
import type { SampledToken } from '../sampling/sampling.ts';
import type { SamplingParams } from '../options/sampling-options.ts';
import type { TokenMask } from '../sampling/token-mask.ts';
import type { RequestId } from '../base/ids.ts';

/** One row of a step: the tokens that one sequence feeds in. */
export interface StepRow {
  readonly requestId: RequestId;
  /** The slot for the K/V. It is final for the last chunk of a prompt, and may change before. */
  readonly slot: KvSlot;
  /** Tokens fed in this step: a prompt chunk (prefill) or the last sampled token (decode). Empty if `isBehind`. */
  readonly tokenIds: readonly number[];
  /**
   * Tokens of a decode step that may follow `tokenIds`: fed in too, each for a further sample where the one before is as guessed.
   * Left out where none is guessed.
   */
  readonly guessedTokenIds?: readonly number[];
  /** The tokens that may be sampled behind each of these; undefined, or left out, for all. */
  readonly guessedMasks?: readonly (TokenMask | undefined)[];
  /** Whether nothing else than each of these can follow: then it is no guess. */
  readonly areForced?: readonly boolean[];
  /** Position of `tokenIds[0]` in the sequence = valid K/V entries of this row before the step. */
  readonly startPosition: number;
  readonly sampling: SamplingParams;
  /** Token counts of the sequence, including `tokenIds`. Each step of a sequence has the same live object, to avoid copies. */
  readonly tokenCounts: TokenCounts;
  /** The tokens that may be sampled; undefined, or left out, for all. See also `DecodeStep.masks`. */
  readonly mask?: TokenMask | undefined;
  /** The prompt tokens to score; left out if the step computes none, or the request asked for none. */
  readonly scoring?: PromptScoring;
}

/** The prompt tokens that a prefill chunk scores. */
export interface PromptScoring {
  /** The prompt token after each token of the chunk. The logits of token i score target i. */
  readonly targetTokenIds: readonly number[];
  /** Alternatives in each place. */
  readonly numLogprobs: number;
}

/**
 * All that the row of `from` keeps overwrites that of `to`. A move carries the runner's state of the sequence along. A copy
 * lets another sequence reuse the K/V.
 */
export interface SlotTransfer {
  readonly kind: 'move' | 'copy';
  readonly from: KvSlot;
  readonly to: KvSlot;
}

interface KvStep {
  /** Resize the K/V cache to this first; its content stays as far as it fits. */
  readonly kvShape: KvShape;
  /** Run in this order, after the copy of a `reusedSlot` and before the forward pass. */
  readonly transfers: readonly SlotTransfer[];
}

/**
 * Prompt chunks: a chunk of one sequence, or the whole prompts of several, padded on the right to the longest. They are of one length
 * where rows have fixed state (`KvCacheLimits.bytesPerRow`). Chunks of one prompt come in order; other rows may decode in between.
 */
export interface PrefillStep extends KvStep {
  readonly kind: 'prefill';
  /** If there are several, each is a whole prompt from position 0 and has no `scoring`. */
  readonly rows: readonly StepRow[];
  /**
   * Only the last chunk yields a token and copies the K/V of the rows to their slots. A sequence that generates nothing has
   * no such chunk.
   */
  readonly isLastChunk: boolean;
  /** The slot that holds the K/V before the first computed chunk of a prompt; undefined if none is reused. */
  readonly reusedSlot: KvSlot | undefined;
  /** The snapshot whose state takes the place of that of `reusedSlot`; left out if the slot's own is right. */
  readonly restoredSnapshot?: number;
  /** The snapshot that becomes a copy of the only row's state behind this chunk. */
  readonly takenSnapshot?: number;
}

/** One new token per row, and more where guesses are right. It is a sequence's first token if all K/V of its prompt but the last token's were copied. */
export interface DecodeStep extends KvStep {
  readonly kind: 'decode';
  /**
   * Whether it starts while the previous decode step is in flight. It has the same rows, one position later. It feeds in the
   * previous step's tokens, which are still on the device.
   */
  readonly isBehind: boolean;
  /** Row i is in slot i. */
  readonly rows: readonly StepRow[];
  /**
   * The masks of the rows of a step behind another, whose tokens decide them: the pass runs meanwhile, and only its sampling waits. It
   * never rejects. Left out where no constraint has masks.
   */
  readonly masks?: Promise<readonly StepRow['mask'][]>;
}

export type Step = PrefillStep | DecodeStep;

/** Tokens that a row feeds in. A step behind another is given none: it takes one from the device. */
export function numTokensOf({ tokenIds, guessedTokenIds = [] }: StepRow): number {
  return Math.max(1, tokenIds.length) + guessedTokenIds.length;
}

/** Tokens that a step feeds in, padding not counted. */
export function numStepTokensOf({ rows }: Step): number {
  return rows.reduce((sum, row) => sum + numTokensOf(row), 0);
}

/** The result of a step. Durations in ms, on the runner's own monotonic clock. */
export interface StepOutput {
  /**
   * One entry per row: what was sampled for position `startPosition + tokenIds.length`, or an `Error` that fails only this
   * row. Empty for a chunk that is not the last.
   */
  readonly samples: readonly (SampledToken | Error)[];
  /**
   * One entry per row: what was sampled behind its right guesses, so that the last of these tokens is the first that wasn't guessed, or
   * the one behind the last guess. Left out if no row has guesses.
   */
  readonly furtherTokens?: readonly (readonly SampledToken[])[];
  /** One entry per target of the step's only row, or an `Error`. Left out if the row has no `scoring`. */
  readonly promptLogprobs?: readonly TokenLogprobs[] | Error;
  /** Time inside the runtime's `run` call. */
  readonly runMs: number;
  /** Time until logits or ids are on the CPU (with a GPU this includes the GPU's own time). */
  readonly readbackMs: number;
}

/** A step that the device has been given. */
export interface StartedStep {
  /** Resolves when a step behind this one may be started; never rejects. */
  readonly launched: Promise<void>;
  /**
   * A rejection means that the step yielded no token, and the engine fails each of its rows. After `RuntimeLostError`, the
   * engine stops and leaves all requests as they are.
   */
  readonly output: Promise<StepOutput>;
}

/**
 * Port to the device. The engine awaits the output of a step before it starts the next. If `isPipelined`, it starts decode
 * steps behind another, each once the one before is launched: their outputs come in order.
 *
 * Every few ms `output` must settle in a later task than the step started in, not only in a later microtask. The host
 * delivers submits and cancels between tasks, and the engine itself never yields. A GPU readback takes a task by nature; a
 * runtime that computes synchronously has to yield to the host between its steps.
 */
export interface ModelRunner {
  readonly isPipelined: boolean;
  readonly kvCacheLimits: KvCacheLimits;
  /** Prompts that one prefill step may compute together; 1 if padding costs as much as other tokens. */
  readonly maxPrefillRows: number;
  /** Prompt tokens that one step may score: their logits are all in memory at once. Integer >= 1. */
  readonly maxScoredTokens: number;
  /** Guessed tokens that one decode step may check. 0 where a row takes one token a step. */
  readonly maxGuessedTokens: number;
  start(step: Step): StartedStep;
  /** Gives memory back between steps, while nothing runs; the content stays as far as it fits. */
  resizeKvCache(shape: KvShape): void;
}
