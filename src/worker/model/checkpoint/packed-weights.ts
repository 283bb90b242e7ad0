import type { OnnxType } from '../onnx-proto.ts';
import type { Dtype } from './model-plan.ts';

/** One initializer of the graph in the packed file. */
export interface PackedTensor {
  readonly name: string;
  readonly type: OnnxType;
  readonly dims: readonly number[];
  /** Bytes from the start of the packed file. */
  readonly offset: number;
  readonly length: number;
}

/** What is stored beside the packed file, as JSON: with it, the file loads without the checkpoint. */
export interface PackedWeights {
  /** Of the layout; another one is converted anew. */
  readonly formatVersion: number;
  readonly dtype: Dtype;
  readonly precision: 'float16' | 'float32';
  /** Size of the packed file in bytes. */
  readonly size: number;
  readonly tensors: readonly PackedTensor[];
  readonly numParameters: number;
  /** Relative RMS error of each quantised tensor, by its checkpoint name; empty for fp32 and fp16. */
  readonly quantisationErrors: Readonly<Record<string, number>>;
}
