import { isRecord } from '../../platform/is-record.ts';
import { ModelFileCorruptError, ModelFileMissingError } from '../../protocol/errors/model.ts';
import { readModel } from '../families.ts';
import type { Model } from '../family.ts';
import { findTensors, withoutPrefix, type IndexedFile } from './find-tensors.ts';
import { readSafetensorsIndex } from './safetensors.ts';
import { missingRanges } from './byte-ranges.ts';
import type { Checkpoint, WeightFile } from './checkpoint.ts';
import { readJson, type CheckpointFiles } from './checkpoint-files.ts';
import { readTokenizerFiles } from '../tokenizer/tokenizer-files.ts';

const WHOLE = 'model.safetensors';
const SHARD_INDEX = 'model.safetensors.index.json';

/** Plain file names only: a shard may not point outside the folder. */
const SHARD_NAME = /^[^/\\]+\.safetensors$/;

/**
 * Reads the JSON files of a checkpoint and the headers of its weight files. Finds every tensor of the forward pass and
 * checks its shape and dtype.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError.
 */
export async function openCheckpoint(files: CheckpointFiles): Promise<Checkpoint> {
  const [modelFiles, tokenizerFiles] = await Promise.all([readModelFiles(files), readTokenizerFiles(files)]);
  const indexed = await indexWeightFiles(files);
  return {
    ...modelFiles,
    ...tokenizerFiles,
    weightFiles: indexed.map((file) => describeWeightFile(file, modelFiles.model)),
    tensors: findTensors(indexed, modelFiles.model, SHARD_INDEX),
  };
}

async function readModelFiles(
  files: CheckpointFiles,
): Promise<Pick<Checkpoint, 'config' | 'generationConfig' | 'model'>> {
  const [config, generationConfig] = await Promise.all([
    readJson(files, 'config.json'),
    readJson(files, 'generation_config.json'),
  ]);
  if (config === undefined) throw ModelFileMissingError.of('config.json', 'there is no such file');
  return { config, generationConfig, model: readModel(config, generationConfig) };
}

async function indexWeightFiles(files: CheckpointFiles): Promise<readonly IndexedFile[]> {
  const whole = await files.open(WHOLE);
  if (whole) return [{ file: whole, tensors: await readSafetensorsIndex(whole) }];
  const shards = await readShardNames(files);
  return Promise.all(
    shards.map(async (name) => {
      const file = await files.open(name);
      if (!file) throw ModelFileMissingError.of(name, `${SHARD_INDEX} names it, but there is no such file`);
      return { file, tensors: await readSafetensorsIndex(file) };
    }),
  );
}

async function readShardNames(files: CheckpointFiles): Promise<readonly string[]> {
  const index = await readJson(files, SHARD_INDEX);
  if (index === undefined) {
    throw ModelFileMissingError.of(WHOLE, `there is neither this file nor ${SHARD_INDEX}`);
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
  return [...shards];
}

function describeWeightFile({ file, tensors }: IndexedFile, model: Model): WeightFile {
  const skippedTensors = Array.from(tensors, ([name, view]) =>
    model.skipTensor(withoutPrefix(name, model), view),
  ).filter((tensor) => tensor !== undefined);
  const neededRanges = missingRanges([{ begin: 0, end: file.size }], skippedTensors);
  return { file, skippedTensors, neededRanges };
}
