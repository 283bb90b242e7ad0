import type { StepRow } from '../../batching/generation/model-runner.ts';
import type { SampledToken } from '../../batching/generation/sampling.ts';

/** Which K/V rows: the staging row, in which a prompt is prefilled, or the first slots, which decode. */
export type ForwardTarget = 'staging' | 'slots';

/** The rows of one forward pass, row-major. */
export interface ForwardInput {
  readonly target: ForwardTarget;
  readonly numRows: number;
  readonly tokensPerRow: number;
  /**
   * [numRows, tokensPerRow]; or `sampled`: the tokens that the last `sample` of the slots, of the same rows, has left
   * there. Positions and last indices are there as well then, and here for what the CPU has to know.
   */
  readonly ids: Int32Array | 'sampled';
  /** [numRows, tokensPerRow] */
  readonly positions: Int32Array;
  /** [numRows]: valid K/V entries of the row after this pass, minus one; 0 for an idle row. */
  readonly lastIndices: Int32Array;
}

export interface SampleOutput {
  /** One entry per row; an `Error` for a row whose logits have no next token. */
  readonly samples: readonly (SampledToken | Error)[];
  readonly readbackMs: number;
}

/**
 * A loaded GPT-2 with its K/V cache on one device: a staging row for prefill, and slots for decode. WebGPU and WASM
 * implement it; what is above it does not know which one runs. Calls must not overlap.
 */
export interface Gpt2Backend {
  /** Whether a forward pass may be launched before the tokens of the one before it are read back. */
  readonly isPipelined: boolean;
  /** What to reserve for rows of this many tokens: more than they need, where growing is dear. */
  capacityFor(length: number): number;
  /** Grows the cache to at least this size and keeps what is in it; never shrinks. `capacity` is tokens per row. */
  reserve(numSlots: number, capacity: number): void;
  /** Resolves once the pass is launched; `sample`, `readLogits` or `finish` waits for it. */
  forward(input: ForwardInput): Promise<{ readonly runMs: number }>;
  /**
   * The next token of each row of the last forward pass, which had the same target; of the slots, row i is slot i. The
   * staging row is that of the slot which its request is to have.
   */
  sample(target: ForwardTarget, rows: readonly StepRow[]): Promise<SampleOutput>;
  /** Waits for the last forward pass, in a later task: the end of a prompt chunk of which only the K/V are wanted. */
  finish(): Promise<{ readonly readbackMs: number }>;
  /** [numRows, vocabSize], of each row's last token in the last forward pass; for what looks below the sampler. */
  readLogits(numRows: number): Promise<Float32Array>;
  /** Copies the staging row into a slot. */
  copyStagingTo(slot: number): void;
  /** Moves a slot's K/V, and what the sampler knows of its tokens, to another slot. */
  moveSlot(from: number, to: number): void;
  release(): Promise<void>;
}

/** What the rows feed into the next pass; a row without a token ends, and feeds in anything. */
export function sampledIdsOf(samples: SampleOutput['samples']): Int32Array {
  return Int32Array.from(samples, (sample) => (sample instanceof Error ? 0 : sample.tokenId));
}
