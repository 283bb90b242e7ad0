/** The rows of one forward pass, row-major. */
export interface ForwardInput {
  /** Which K/V rows: the staging row, or the first `numRows` slots. */
  readonly target: 'staging' | 'slots';
  readonly numRows: number;
  readonly tokensPerRow: number;
  /** [numRows, tokensPerRow] */
  readonly ids: Int32Array;
  /** [numRows, tokensPerRow] */
  readonly positions: Int32Array;
  /** [numRows]: valid K/V entries of the row after this pass, minus one; 0 for an idle row. */
  readonly lastIndices: Int32Array;
  /** False skips the readback: only the K/V entries are wanted. */
  readonly wantsLogits: boolean;
}

export interface ForwardOutput {
  /** [numRows, vocabSize], of each row's last token; empty when not wanted. Valid until the next forward pass. */
  readonly logits: Float32Array;
  readonly runMs: number;
  readonly readbackMs: number;
}

/**
 * A loaded GPT-2 with its K/V cache on one device: a staging row for prefill, and slots for decode. WebGPU and WASM
 * implement it; what is above it does not know which one runs. Calls must not overlap.
 */
export interface Gpt2Backend {
  /** Grows the cache to at least this size and keeps what is in it; never shrinks. `capacity` is tokens per row. */
  reserve(numSlots: number, capacity: number): void;
  forward(input: ForwardInput): Promise<ForwardOutput>;
  /** Copies the staging row into a slot. */
  copyStagingTo(slot: number): void;
  moveSlot(from: number, to: number): void;
  release(): Promise<void>;
}
