import type { EncoderRow } from '../runtime/encoder-inputs.ts';
import type { LoadedEncoder } from '../runtime/encoder/loaded-encoder.ts';

/** A request as rows of a batch. */
export interface EncoderWork {
  readonly rows: readonly EncoderRow[];
  /** Makes the answer of the outputs, one for each row. */
  answer(outputs: readonly Float32Array[]): unknown;
}

/** One thing that encoders do. */
export interface EncoderTask {
  /** Name of its deployment. */
  readonly name: string;
  /**
   * Reads a request. Yields between pieces of long ones.
   *
   * @throws InvalidOptionError, UnknownOptionError, EmptyPromptError, PromptTooLongError.
   */
  read(input: unknown, options: unknown, model: LoadedEncoder): Generator<void, EncoderWork>;
}
