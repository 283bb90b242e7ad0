import type { Gpt2Config } from '../gpt2/config.ts';
import type { TensorView } from './safetensors.ts';
import type { RandomAccessFile } from './checkpoint-files.ts';

/** Bytes of a file, `end` exclusive. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/**
 * A causal mask that old versions of huggingface/transformers saved with each layer, [1, 1, n, n]: ones on and below the
 * diagonal, zeros above. Nobody reads it, and its bytes are known without fetching them.
 */
export interface SkippedMask extends TensorView {
  readonly name: string;
}

/** One `.safetensors` file of a checkpoint and what of it is read. */
export interface WeightFile {
  readonly file: RandomAccessFile;
  /** All of the file but the masks, in its order. */
  readonly neededRanges: readonly ByteRange[];
  readonly skippedMasks: readonly SkippedMask[];
}

/** A tensor of the forward pass in one of the weight files. */
export interface CheckpointTensor extends TensorView {
  readonly file: RandomAccessFile;
}

/** What is known of a checkpoint when its JSON files and the headers of its weight files are read. */
export interface Checkpoint {
  readonly config: Gpt2Config;
  /** Parsed; `undefined` where there is none. */
  readonly generationConfig: unknown;
  /** Parsed `tokenizer.json`. */
  readonly tokenizer: unknown;
  /** Parsed `tokenizer_config.json`. */
  readonly tokenizerConfig: unknown;
  readonly weightFiles: readonly WeightFile[];
  /** By the name that the graph has for it, without `transformer.`; `lm_head.weight` only where it is not tied. */
  readonly tensors: ReadonlyMap<string, CheckpointTensor>;
  readonly numParameters: number;
}
