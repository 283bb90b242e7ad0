import type { TensorView } from './formats/safetensors.ts';
import type { EncoderConfig } from './encoder/encoder-config.ts';
import type { ModelConfig } from './program/model-config.ts';
import type { Program } from './program/program.ts';

/** Models that share one architecture. */
export interface ModelFamily {
  /** Values of `model_type` in `config.json`. */
  readonly modelTypes: readonly string[];
  /** Whether such a model may be one of sentence-transformers. */
  readonly mayEncode?: true;
  /**
   * @param config Parsed `config.json`.
   * @param generationConfig Parsed `generation_config.json`; `undefined` where there is none.
   * @throws ModelFileCorruptError where a field is missing or out of range.
   * @throws UnsupportedModelError where the graph cannot compute this variant.
   */
  readModel(config: Readonly<Record<string, unknown>>, generationConfig: unknown): Model;
}

/** One model, as its family reads it from its configuration. */
export interface Model {
  readonly config: ModelConfig;
  /** Left out for a model that generates. */
  readonly encoder?: EncoderConfig;
  readonly program: Program;
  /** Some checkpoints put this before the names of their tensors. */
  readonly tensorPrefix: string;
  /** The vision tower isn't read, though the checkpoint has one. */
  readonly skipsVision?: true;
  /** Set where activations exceed the range of fp16. Weights can still be quantized. */
  readonly needsFloat32?: true;
  /**
   * Tells which tensors need no download.
   *
   * @param name Without the prefix.
   * @returns `undefined` for a tensor that has to be downloaded.
   */
  skipTensor(name: string, view: TensorView): SkippedTensor | undefined;
}

/** A tensor that the forward pass does not read and whose bytes are known, so that it need not be downloaded. */
export interface SkippedTensor extends TensorView {
  /** The bytes in the file. They are needed to check the file's digest. */
  contents(): Uint8Array;
}
