import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { withSentenceFiles } from '../encoder/encoder-config.ts';
import { mayEncode, readModel } from '../families/families.ts';
import type { Model } from '../family.ts';
import {
  findTensors,
  refuseUnread,
  withoutPrefix,
  type CheckpointSource,
  type IndexedFile,
} from './find-tensors.ts';
import { readSafetensorsIndex } from '../formats/safetensors.ts';
import { missingRanges } from '../formats/byte-ranges.ts';
import type { Checkpoint, ModelFiles, WeightFile } from './checkpoint.ts';
import { missingFile, readJson, type CheckpointFiles } from '../formats/checkpoint-files.ts';
import { requireTiedFromTheStart } from './tied-head.ts';
import { readTokenizerFiles } from '../tokenizer/tokenizer-files.ts';

const WHOLE = 'model.safetensors';
const SHARD_INDEX = 'model.safetensors.index.json';

/** Plain file names only: a shard may not point outside the folder. */
const SHARD_NAME = /^[^/\\]+\.safetensors$/;

/**
 * Reads everything of a checkpoint except its weights.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError.
 */
export async function openCheckpoint(files: CheckpointSource): Promise<Checkpoint> {
  return readCheckpoint(files, await readModelFiles(files));
}

/**
 * Reads the small files that describe the model: a model that they rule out is refused before anything else is fetched.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError.
 */
export async function readModelFiles(files: CheckpointSource): Promise<ModelFiles> {
  const [config, generationConfig] = await Promise.all([
    readJson(files, 'config.json'),
    readJson(files, 'generation_config.json'),
  ]);
  if (config === undefined) throw missingFile(files, 'config.json', 'there is no such file');
  if (!files.weights) refuseGgufFields(config);
  const whole = mayEncode(config) ? await withSentenceFiles(files, config) : config;
  return { config: whole, generationConfig, model: readModel(whole, generationConfig) };
}

/** What stands for a GGUF file's metadata, and what huggingface/transformers doesn't read in a `config.json`. */
function refuseGgufFields(config: unknown): void {
  const parts = isRecord(config) ? [config, config['text_config']].filter((part) => isRecord(part)) : [];
  for (const fields of parts) {
    const own =
      fields['model_type'] === 'olmo3' ? ['rope_finetuned', 'rope_local_base_freq'] : ['rope_finetuned'];
    const name = Object.keys(fields).find((key) => own.includes(key) || isFactors(fields[key]));
    if (name === undefined) continue;
    throw UnsupportedModelError.of(
      `${name} in config.json is ${JSON.stringify(fields[name])}, which only GGUF files have`,
    );
  }
}

function isFactors(value: unknown): boolean {
  return isRecord(value) && value['rope_type'] === 'factors';
}

/**
 * Reads the tokenizer and the headers of the weight files. Finds every tensor of the forward pass and checks its shape and
 * dtype.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError.
 */
export async function readCheckpoint(files: CheckpointSource, modelFiles: ModelFiles): Promise<Checkpoint> {
  const { model } = modelFiles;
  // Headers take several round trips, a tokenizer one long one.
  const [indexed, tokenizerFiles] = await Promise.all([
    indexWeightFiles(files),
    readTokenizerFiles(files, model.config.vocabSize, !model.encoder),
  ]);
  if (files.weights) refuseUnread(files.weights, model);
  const tensors = findTensors(indexed, model, SHARD_INDEX);
  for (const tensor of [...tensors.values()].flat()) await requireTiedFromTheStart(tensor);
  return {
    ...modelFiles,
    ...tokenizerFiles,
    weightFiles: indexed.map((file) => describeWeightFile(file, model)),
    tensors,
  };
}

async function indexWeightFiles(files: CheckpointSource): Promise<readonly IndexedFile[]> {
  if (files.weights) return files.weights;
  const whole = await files.open(WHOLE);
  if (whole) return [{ file: whole, tensors: await readSafetensorsIndex(whole) }];
  const shards = await readShardNames(files);
  return Promise.all(
    shards.map(async (name) => {
      const file = await files.open(name);
      if (!file) throw missingFile(files, name, `${SHARD_INDEX} names it, but there is no such file`);
      return { file, tensors: await readSafetensorsIndex(file) };
    }),
  );
}

async function readShardNames(files: CheckpointFiles): Promise<readonly string[]> {
  const index = await readJson(files, SHARD_INDEX);
  if (index === undefined) {
    throw missingFile(files, WHOLE, `there is neither this file nor ${SHARD_INDEX}`);
  }
  const weightMap = isRecord(index) ? index['weight_map'] : undefined;
  const names = isRecord(weightMap) ? Object.values(weightMap) : [];
  const shards = new Set(names.filter((name) => typeof name === 'string'));
  if (shards.size === 0 || names.some((name) => typeof name !== 'string' || !SHARD_NAME.test(name))) {
    throw ModelFileCorruptError.of(
      SHARD_INDEX,
      'its `weight_map` does not map tensors to .safetensors files',
    );
  }
  // Weights are converted in this order.
  return [...shards].toSorted();
}

function describeWeightFile({ file, tensors }: IndexedFile, model: Model): WeightFile {
  const skippedTensors = Array.from(tensors, ([name, view]) =>
    model.skipTensor(withoutPrefix(name, model), view),
  ).filter((tensor) => tensor !== undefined);
  const neededRanges = missingRanges([{ begin: 0, end: file.size }], skippedTensors);
  return { file, skippedTensors, neededRanges };
}
