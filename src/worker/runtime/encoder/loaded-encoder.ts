import type { EncoderInfo } from '../../../protocol/models.ts';
import type { EncoderConfig } from '../../models/encoder/encoder-config.ts';
import type { Tokenizer } from '../../models/tokenizer/tokenizer.ts';
import type { EncoderRunner } from './encoder-runner.ts';

export interface LoadedEncoder {
  /** With the longest text that the device holds. */
  readonly encoder: EncoderConfig;
  readonly tokenizer: Tokenizer;
  readonly backend: EncoderRunner;
  readonly encoderInfo: EncoderInfo;
  /** Memory on its device beside the runtime, in bytes. */
  readonly deviceBytes: number;
}
