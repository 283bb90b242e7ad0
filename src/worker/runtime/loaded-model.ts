import type { BackendInfo, ModelInfo } from '../../protocol/models.ts';
import type { PackedLayout } from '../models/checkpoint/packed-weights.ts';
import type { ModelConfig } from '../models/program/model-config.ts';
import type { Tokenizer } from '../models/tokenizer/tokenizer.ts';
import type { ModelBackend } from './model-backend.ts';

/** How a model computes: what the check of the GPU compares. */
export interface CheckedModel extends Pick<PackedLayout, 'dtype' | 'precision'> {
  /** `model_type` of its `config.json`. */
  readonly modelType: string;
}

export interface LoadedModel {
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly backend: ModelBackend;
  readonly modelInfo: ModelInfo;
  readonly backendInfo: BackendInfo;
  readonly checkedAs: CheckedModel;
  /** Memory on its device beside the runtime, in bytes. */
  readonly deviceBytes: number;
}
