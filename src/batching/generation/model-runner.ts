import type { TokenBan, TokenCounts } from '../sampling/adjust-logits.ts';
import type { KvCacheLimits, KvShape } from './kv-memory.ts';
import type { KvSlot } from './kv-slots.ts';
import type { TokenLogprobs } from '../sampling/logprobs.ts';
import type { SamplingParams } from './options.ts';
import type { RequestId } from './request.ts';

/** One row of a step: the tokens that one sequence feeds in. */
export interface StepRow {
  readonly requestId: RequestId;
  /** Of a prompt chunk that is not the last: where the K/V is to go as things stand; only the last chunk's is final. */
  readonly slot: KvSlot;
  /** Tokens fed in this step: a prompt chunk (prefill), or the last sampled one (decode); none in a step behind another. */
  readonly tokenIds: readonly number[];
  /** Position of `tokenIds[0]` in the sequence = valid K/V entries of this row before the step. */
  readonly startPosition: number;
  readonly sampling: SamplingParams;
  /** Of the sequence up to and with `tokenIds`; the same live object in each of its steps, so nothing is copied. */
  readonly tokenCounts: TokenCounts;
  /** The tokens that would end its text too early; the same object in each of its steps. */
  readonly ban?: TokenBan;
  /** What to tell of the prompt; left out where the step computes none of it, or nobody asked. */
  readonly scoring?: PromptScoring;
}

/** The prompt tokens of which a prefill chunk yields the logprobs. */
export interface PromptScoring {
  /** The tokens after each of the chunk's own, as far as the prompt goes: token i is scored with the logits of token i. */
  readonly targetTokenIds: readonly number[];
  /** Of the likeliest tokens in each place. */
  readonly numLogprobs: number;
}

/**
 * The K/V row of `from` is copied to `to`, whose own is lost. Where it moves, what the runner knows of the sequence in `from`
 * goes with it; where it is copied, another sequence takes its K/V over.
 */
export interface SlotTransfer {
  readonly kind: 'move' | 'copy';
  readonly from: KvSlot;
  readonly to: KvSlot;
}

interface KvStep {
  /** What the K/V cache is to be, before anything else is done; what is in it stays as far as it fits. */
  readonly kvShape: KvShape;
  /** Done before the forward pass, in this order. */
  readonly transfers: readonly SlotTransfer[];
}

/**
 * Prompt chunks: one of a single sequence, or the whole prompts of several, padded on the right to the longest. Chunks of one
 * prompt come in order; other rows may decode in between.
 */
export interface PrefillStep extends KvStep {
  readonly kind: 'prefill';
  /** Of several, each starts at position 0, is a whole prompt, and has no `scoring`. */
  readonly rows: readonly StepRow[];
  /**
   * Only the last chunk yields a token; only then is the K/V of the rows copied to their slots. A sequence that generates
   * nothing has no such chunk.
   */
  readonly isLastChunk: boolean;
  /** The slot that holds the K/V in front of a chunk which is the first of its prompt to be computed. */
  readonly reusedSlot: KvSlot | undefined;
}

/** One new token for each row: its first, where all of its prompt but the last token was copied to its slot. */
export interface DecodeStep extends KvStep {
  readonly kind: 'decode';
  /**
   * Started while the decode step before it is in flight, with the same rows one position further: what is fed in are
   * the tokens that that step samples, which only the device knows yet.
   */
  readonly isBehind: boolean;
  /** Row i is in slot i. */
  readonly rows: readonly StepRow[];
}

export type Step = PrefillStep | DecodeStep;

/** What a step yields, with where its time went (durations on the runner's own monotonic clock, ms). */
export interface StepOutput {
  /**
   * One entry per row: the id sampled for position `startPosition + tokenIds.length`, or an `Error` that
   * fails this row alone. Empty for a chunk that is not the last.
   */
  readonly tokenIds: readonly (number | Error)[];
  /** One entry per id: its logprobs, where its row asked for them. Left out where no row did. */
  readonly logprobs?: readonly (TokenLogprobs | undefined)[];
  /** One entry per target of the step's only row, or why it has none; left out where it has no `scoring`. */
  readonly promptLogprobs?: readonly TokenLogprobs[] | Error;
  /** Inside the runtime's `run` call. */
  readonly runMs: number;
  /** Waiting for logits or ids to arrive on the CPU (on a GPU this holds the GPU's own time). */
  readonly readbackMs: number;
}

/** A step that the device has been given. */
export interface StartedStep {
  /** Resolves when a step behind this one may be started; never rejects. */
  readonly launched: Promise<void>;
  /**
   * A rejection means that the step had no effect on any token: the engine fails every row of it. After `RuntimeLostError` it
   * stops instead, and leaves all requests as they are.
   */
  readonly output: Promise<StepOutput>;
}

/**
 * Port to the device. The engine awaits a step's output before it starts the next, but where `isPipelined` it starts one
 * decode step behind another, once that is launched: at most two are in flight, and their outputs come in order.
 *
 * In all but a few ms `output` must settle in a later task than the step was started in, not merely in a later microtask: that
 * gap is where the host delivers submits and cancels, as the engine itself never yields. A GPU readback does so by nature; a
 * runtime that computes synchronously has to yield to the host every few ms, between steps that are shorter.
 */
export interface ModelRunner {
  readonly isPipelined: boolean;
  readonly kvCacheLimits: KvCacheLimits;
  /** Prompts that one prefill step may compute together; 1 where a token of padding costs as much as any other. */
  readonly maxPrefillRows: number;
  /** Prompt tokens that one step may score: their logits are all in memory at once. Integer >= 1. */
  readonly maxScoredTokens: number;
  start(step: Step): StartedStep;
}
