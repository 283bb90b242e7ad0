import type { KvShape } from '../../batching/generation/kv-memory.ts';
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import type { ModelRunner, StepOutput, StepRow } from '../../batching/generation/model-runner.ts';
import type { PackedLayout } from '../models/checkpoint/packed-weights.ts';
import type { WeightSource } from '../models/checkpoint/weight-source.ts';
import type { Model } from '../models/family.ts';

/** Which rows of the K/V cache a pass uses, from the first on. Prompts are prefilled in `staging`; `slots` decode. */
export type ForwardTarget = 'staging' | 'slots';

/** All rows: those of `snapshots` keep no keys and values, so none of these are copied to or from them. */
export type RowStore = ForwardTarget | 'snapshots';

/** The index of a row, and of the row that becomes its copy. */
export type RowCopy = readonly [from: number, to: number];

export interface PassShape {
  readonly target: ForwardTarget;
  readonly numRows: number;
  readonly tokensPerRow: number;
}

/** The rows of one forward pass, row-major. A row whose first position is 0 starts anew, whatever the row has kept. */
export interface ForwardInput extends PassShape {
  /**
   * [numRows, tokensPerRow]. `sampled` stands for the tokens that the last `sample` of the same slots left on the device,
   * with their positions and last indices; then the fields below only inform the CPU.
   */
  readonly ids: Int32Array | 'sampled';
  /** [numRows, tokensPerRow] */
  readonly positions: Int32Array;
  /**
   * [numRows]: valid K/V entries of the row after this pass, minus one; 0 for an idle row. Rows that start at position 0, and those
   * with guesses, may have fewer tokens than `tokensPerRow`: they are padded on the right.
   */
  readonly lastIndices: Int32Array;
  /** Tokens that need logits in addition to each row's last, as indices among all tokens of the pass. */
  readonly scoredTokens?: Int32Array;
}

/** The `Error` is that of a row whose logits have no next token. */
export type SampleOutput = Pick<StepOutput, 'samples' | 'furtherTokens' | 'readbackMs'>;

/** A model with its packed weights, from which a backend is made. */
export interface PackedModel {
  readonly model: Model;
  readonly packed: PackedLayout;
  readonly weights: WeightSource;
}

/** A loaded model with its K/V cache on one device. Implemented by WebGPU and WASM. Calls must not overlap. */
export interface ModelBackend extends Pick<
  ModelRunner,
  'kvCacheLimits' | 'maxScoredTokens' | 'maxGuessedTokens'
> {
  /** Whether a forward pass may be launched before the tokens of the one before it are read back. */
  readonly isPipelined: boolean;
  /** Passes whose first run takes long, for example because it compiles code. They run once before requests come. */
  readonly warmUpShapes: readonly PassShape[];
  /** Resolves with the reason when the device is lost, even between runs. Left out for a CPU, which fails only in a run. */
  readonly failure?: Promise<Error>;
  /** Resizes the cache and keeps what fits. */
  resize(shape: KvShape): void;
  /**
   * Resolves once the pass is launched, or recorded for the next call to launch. `sample`, `readLogits` and `finish` wait for its
   * end.
   */
  forward(input: ForwardInput): Promise<{ readonly runMs: number }>;
  /**
   * Samples the next token of each row of the last forward pass, which had the same target, and those behind right guesses. Row i of `slots` is slot i; a
   * row of `staging` names the slot that its request will get.
   *
   * @param rows A promise where masks hang on the tokens of the pass before: this one runs meanwhile. The sampling is launched, or done,
   *   before others who wait for it go on.
   */
  sample(
    target: ForwardTarget,
    rows: readonly StepRow[] | Promise<readonly StepRow[]>,
  ): Promise<SampleOutput>;
  /** Waits in a later task for a forward pass whose logits are not needed: a chunk before the end of a prompt. */
  finish(): Promise<{ readonly readbackMs: number }>;
  /** Logits [numRows, vocabSize] of the last forward pass: each row's last token, then the scored tokens. */
  readLogits(numRows: number): Promise<Float32Array>;
  /** Copies all that rows have kept. A row of `slots` is a slot. */
  copyRows(from: RowStore, to: RowStore, rows: readonly RowCopy[]): void;
  /** A sequence goes on in another slot. Beside its row, its next token may be kept for it: see `sampled`. */
  moveSlot(from: KvSlot, to: KvSlot): void;
  release(): Promise<void>;
}

/**
 * The tokens of a pass whose logits are computed: each row's last, which the sampler reads, then the scored ones. As
 * indices among all tokens of the pass, with padding.
 */
export function logitTokensOf({
  tokensPerRow,
  positions,
  lastIndices,
  scoredTokens,
}: ForwardInput): Int32Array {
  const lastTokens = lastIndices.map((lastIndex, row) => {
    const first = row * tokensPerRow;
    return first + lastIndex - (positions[first] ?? 0);
  });
  return scoredTokens ? Int32Array.of(...lastTokens, ...scoredTokens) : lastTokens;
}

/** The rows of a pass that start anew. */
export function newRowsOf({ numRows, tokensPerRow, positions }: ForwardInput): readonly number[] {
  return Array.from({ length: numRows }, (_, row) => row).filter(
    (row) => positions[row * tokensPerRow] === 0,
  );
}

/** Limits the memory that the logits of scored tokens take. */
const MAX_SCORED_BYTES = 2 ** 24;

/** @param maxBytes The device's own limit on the logits of one pass. */
export function maxScoredTokensOf(vocabSize: number, maxBytes = Infinity): number {
  const numRows = Math.floor(Math.min(maxBytes, MAX_SCORED_BYTES) / (4 * vocabSize));
  // One row is the sampler's.
  return Math.max(1, numRows - 1);
}

/** The tokens that the rows feed into the next pass. A row whose sampling failed ends, so any token will do. */
export function sampledIdsOf(samples: SampleOutput['samples']): Int32Array {
  return Int32Array.from(samples, (sample) => (sample instanceof Error ? 0 : sample.tokenId));
}
