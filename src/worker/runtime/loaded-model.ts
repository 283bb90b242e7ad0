import type { BackendInfo, ModelInfo } from '../../protocol/models.ts';
import type { ModelConfig } from '../models/program/model-config.ts';
import type { Tokenizer } from '../models/tokenizer/tokenizer.ts';
import type { CheckedModel } from './gpu-check/gpu-check.ts';
import type { ModelBackend } from './model-backend.ts';

export interface LoadedModel {
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly backend: ModelBackend;
  readonly modelInfo: ModelInfo;
  readonly backendInfo: BackendInfo;
  readonly checkedAs: CheckedModel;
  /** What it takes on its device beside the runtime, in bytes. */
  readonly deviceBytes: number;
}
