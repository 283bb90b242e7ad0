import { textOf } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { bert } from '../bert/family.ts';
import type { Model, ModelFamily } from '../family.ts';
import { gpt2 } from '../gpt2/family.ts';
import { lackOf } from './lack-of.ts';
import { lfm2 } from '../lfm2/family.ts';
import { llama } from '../llama/family.ts';
import { qwen35 } from '../qwen35/family.ts';

const families: readonly ModelFamily[] = [gpt2, llama, lfm2, qwen35, bert];

/** @param config As `readModel` reads it. */
export function modelTypeOf(config: unknown): string {
  return isRecord(config) ? textOf(config['model_type']) : '';
}

export function readsModelType(modelType: string): boolean {
  return familyOf({ model_type: modelType }) !== undefined;
}

/** Whether the files of sentence-transformers may lie beside this parsed `config.json`. */
export function mayEncode(config: unknown): boolean {
  return familyOf(config)?.mayEncode ?? false;
}

/**
 * Reads a model's configuration with the family that its `model_type` names.
 *
 * @param config Parsed `config.json`.
 * @param generationConfig Parsed `generation_config.json`; `undefined` where there is none.
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where no family reads such a model.
 */
export function readModel(config: unknown, generationConfig: unknown): Model {
  if (!isRecord(config)) throw ModelFileCorruptError.of('config.json', 'it is not a JSON object');
  const modelType = config['model_type'];
  const family = familyOf(config);
  if (family) return family.readModel(config, generationConfig);
  const known = families.flatMap(({ modelTypes }) => modelTypes).join(', ');
  const lack = lackOf(textOf(modelType));
  throw UnsupportedModelError.of(
    `Models of type ${JSON.stringify(modelType)} (model_type in config.json) don't run here${lack && `: ${lack}`}, but ${known} do`,
  );
}

function familyOf(config: unknown): ModelFamily | undefined {
  const modelType = modelTypeOf(config);
  return families.find(({ modelTypes }) => modelTypes.includes(modelType));
}
