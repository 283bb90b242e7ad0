import type { KvCacheLimits, KvShape } from '../../batching/generation/kv-memory.ts';
import type { SlotTransfer, StepRow } from '../../batching/generation/model-runner.ts';
import type { SampledToken } from '../../batching/sampling/sampling.ts';

/** Which K/V rows: the first staging rows, in which prompts are prefilled, or the first slots, which decode. */
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
  /**
   * [numRows]: valid K/V entries of the row after this pass, minus one; 0 for an idle row. Of several rows that start at
   * position 0, those with fewer tokens than `tokensPerRow` are padded on the right.
   */
  readonly lastIndices: Int32Array;
  /** Tokens whose logits are wanted besides those of each row's last one, by their place among all tokens of the pass. */
  readonly scoredTokens?: Int32Array;
}

export interface SampleOutput {
  /** One entry per row; an `Error` for a row whose logits have no next token. */
  readonly samples: readonly (SampledToken | Error)[];
  readonly readbackMs: number;
}

/**
 * A loaded GPT-2 with its K/V cache on one device: staging rows for prefill, and slots for decode. WebGPU and WASM
 * implement it; what is above it does not know which one runs. Calls must not overlap.
 */
export interface ModelBackend {
  /** Whether a forward pass may be launched before the tokens of the one before it are read back. */
  readonly isPipelined: boolean;
  readonly kvCacheLimits: KvCacheLimits;
  /** Resolves when nothing can be run any more, with the reason, whether or not something runs then. */
  readonly failure: Promise<Error>;
  /** See `ModelRunner`. */
  readonly maxPrefillRows: number;
  /** See `ModelRunner`. */
  readonly maxScoredTokens: number;
  /** Makes the cache this large, and keeps what is in it as far as it fits. */
  resize(shape: KvShape): void;
  /** Resolves once the pass is launched; `sample`, `readLogits` or `finish` waits for it. */
  forward(input: ForwardInput): Promise<{ readonly runMs: number }>;
  /**
   * The next token of each row of the last forward pass, which had the same target; of the slots, row i is slot i. A
   * staging row is that of the slot which its request is to have.
   */
  sample(target: ForwardTarget, rows: readonly StepRow[]): Promise<SampleOutput>;
  /** Waits for the last forward pass, in a later task: the end of a prompt chunk of which only the K/V are wanted. */
  finish(): Promise<{ readonly readbackMs: number }>;
  /** [numRows, vocabSize] of the last forward pass: of each row's last token, then of the scored tokens. */
  readLogits(numRows: number): Promise<Float32Array>;
  /** Copies staging row i into `slots[i]`. */
  copyStagingTo(slots: readonly number[]): void;
  /** Copies a slot into the first staging row. */
  copyToStaging(slot: number): void;
  /** Copies a slot's K/V to another slot, and where it moves, what the sampler knows of its tokens. */
  transfer(transfer: SlotTransfer): void;
  release(): Promise<void>;
}

/**
 * The tokens of a pass whose logits are computed, by their place among all of them, padding included: the last of each row,
 * which the sampler reads, then the scored ones.
 */
export function logitTokensOf({ tokensPerRow, lastIndices, scoredTokens }: ForwardInput): Int32Array {
  const lastTokens = lastIndices.map(
    (lastIndex, row) => row * tokensPerRow + Math.min(tokensPerRow - 1, lastIndex),
  );
  return scoredTokens ? Int32Array.of(...lastTokens, ...scoredTokens) : lastTokens;
}

/** Logits of scored tokens that are in memory at one time, at most. */
const MAX_SCORED_BYTES = 2 ** 24;

/** @param maxBytes Of the logits of one pass, where the device has a limit of its own. */
export function maxScoredTokensOf(vocabSize: number, maxBytes = Infinity): number {
  const numRows = Math.floor(Math.min(maxBytes, MAX_SCORED_BYTES) / (4 * vocabSize));
  // One row is the sampler's.
  return Math.max(1, numRows - 1);
}

/** What the rows feed into the next pass; a row without a token ends, and feeds in anything. */
export function sampledIdsOf(samples: SampleOutput['samples']): Int32Array {
  return Int32Array.from(samples, (sample) => (sample instanceof Error ? 0 : sample.tokenId));
}
