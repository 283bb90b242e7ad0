import type { Model, SkippedTensor } from '../family.ts';
import type { TokenizerFiles } from '../tokenizer/tokenizer-files.ts';
import { bytesIn, type ByteRange } from '../formats/byte-ranges.ts';
import type { RandomAccessFile } from '../formats/checkpoint-files.ts';
import type { WeightDtype } from '../formats/float-formats.ts';
import type { TensorView } from '../formats/safetensors.ts';

/** One `.safetensors` file of a checkpoint. */
export interface WeightFile {
  readonly file: RandomAccessFile;
  /** All of the file but the skipped tensors, in its order. */
  readonly neededRanges: readonly ByteRange[];
  readonly skippedTensors: readonly SkippedTensor[];
}

/** A tensor that the forward pass reads, or a part of one, in one of the weight files. */
export interface CheckpointTensor extends TensorView {
  /** As in the checkpoint, without the prefix. */
  readonly name: string;
  readonly dtype: WeightDtype;
  readonly file: RandomAccessFile;
  /** Of an embedding that is the head too: the head that the checkpoint has nevertheless, which has to be the same. */
  readonly ownHead?: TensorView & Pick<CheckpointTensor, 'file'>;
}

/** The contents of `config.json` and `generation_config.json`. */
export interface ModelFiles {
  /** Parsed, with the files of `withSentenceFiles`. */
  readonly config: unknown;
  /** Parsed; `undefined` where there is none. */
  readonly generationConfig: unknown;
  readonly model: Model;
}

/** The contents of a checkpoint's JSON files and of the headers of its weight files. */
export interface Checkpoint extends ModelFiles, TokenizerFiles {
  readonly weightFiles: readonly WeightFile[];
  /** By the names in `model.program.weights`: the parts of each tensor, row after row. */
  readonly tensors: ReadonlyMap<string, readonly CheckpointTensor[]>;
}

/** Bytes of the weight files that have to be fetched. */
export function downloadBytesOf(weightFiles: readonly WeightFile[]): number {
  return bytesIn(weightFiles.flatMap(({ neededRanges }) => neededRanges));
}
