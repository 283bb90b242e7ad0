import type { TokenCounts } from './adjust-logits.ts';
import type { KvSlot } from './kv-slots.ts';
import type { TokenLogprobs } from './logprobs.ts';
import type { RequestId, SamplingParams } from './request.ts';

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
}

/** A prompt chunk of one sequence. Chunks of one prompt come in order; other rows may decode in between. */
export interface PrefillStep {
  readonly kind: 'prefill';
  readonly row: StepRow;
  /** Only the last chunk yields a token; only then is the row's K/V copied to its slot. */
  readonly isLastChunk: boolean;
}

/** The K/V row of `from` is moved to `to`, which is free. */
export interface SlotMove {
  readonly from: KvSlot;
  readonly to: KvSlot;
}

/** One new token for each row. */
export interface DecodeStep {
  readonly kind: 'decode';
  /**
   * Started while the decode step before it is in flight, with the same rows one position further: what is fed in are
   * the tokens that that step samples, which only the device knows yet.
   */
  readonly isBehind: boolean;
  /** Done before the step, in this order, to keep the running rows a dense prefix of the slots. */
  readonly moves: readonly SlotMove[];
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
  /** Inside the runtime's `run` call. */
  readonly runMs: number;
  /** Waiting for logits or ids to arrive on the CPU (on a GPU this holds the GPU's own time). */
  readonly readbackMs: number;
}

/** A step that the device has been given. */
export interface StartedStep {
  /** Resolves when a step behind this one may be started; never rejects. */
  readonly launched: Promise<void>;
  /** A rejection means that the step had no effect on any token: every row of it is failed by the engine. */
  readonly output: Promise<StepOutput>;
}

/**
 * Port to the device. The engine awaits a step's output before it starts the next, but where `isPipelined` it starts one
 * decode step behind another, once that is launched: at most two are in flight, and their outputs come in order.
 *
 * `output` must settle in a later task than the step was started in, not merely in a later microtask: that gap is where
 * the host delivers submits and cancels, as the engine itself never yields. A GPU readback does so by nature; a
 * runtime that computes synchronously has to yield to the host once per step.
 */
export interface ModelRunner {
  readonly isPipelined: boolean;
  start(step: Step): StartedStep;
}
