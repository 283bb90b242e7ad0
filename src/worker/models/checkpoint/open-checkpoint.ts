import { isRecord } from '../../platform/is-record.ts';
import {
  ModelFileCorruptError,
  ModelFileMissingError,
  UnsupportedModelError,
} from '../../protocol/errors/model.ts';
import { readModel } from '../families.ts';
import type { Model } from '../family.ts';
import type { ModelTensor } from '../model-config.ts';
import { readSafetensorsIndex, type TensorView } from './safetensors.ts';
import { missingRanges } from './byte-ranges.ts';
import type { Checkpoint, CheckpointTensor, WeightFile } from './checkpoint.ts';
import { readJson, type CheckpointFiles, type RandomAccessFile } from './checkpoint-files.ts';
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
    tensors: findTensors(indexed, modelFiles.model),
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

interface IndexedFile {
  readonly file: RandomAccessFile;
  readonly tensors: ReadonlyMap<string, TensorView>;
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

function findTensors(files: readonly IndexedFile[], model: Model): ReadonlyMap<string, CheckpointTensor> {
  const all = new Map<string, TensorView & Pick<CheckpointTensor, 'file'>>();
  for (const { file, tensors } of files) {
    for (const [name, view] of tensors) all.set(withoutPrefix(name, model), { ...view, file });
  }
  const listed = files.length === 1 ? (files[0]?.file.name ?? WHOLE) : SHARD_INDEX;
  return new Map(model.tensors.map((tensor) => [tensor.name, requireTensor(all, tensor, listed)]));
}

function requireTensor(
  all: ReadonlyMap<string, TensorView & Pick<CheckpointTensor, 'file'>>,
  { name, shape }: ModelTensor,
  listed: string,
): CheckpointTensor {
  const tensor = all.get(name);
  if (!tensor) throw ModelFileCorruptError.of(listed, `tensor ${name} is missing`);
  if (tensor.shape.join() !== shape.join()) {
    throw ModelFileCorruptError.of(
      tensor.file.name,
      `tensor ${name} has shape [${tensor.shape.join(', ')}], but config.json asks for [${shape.join(', ')}]`,
    );
  }
  const { dtype } = tensor;
  if (dtype === 'F32' || dtype === 'F16' || dtype === 'BF16') return { ...tensor, dtype };
  throw UnsupportedModelError.of(`tensor ${name} is stored as ${dtype}, not as F32, F16 or BF16`);
}

function describeWeightFile({ file, tensors }: IndexedFile, model: Model): WeightFile {
  const skippedTensors = Array.from(tensors, ([name, view]) =>
    model.skipTensor(withoutPrefix(name, model), view),
  ).filter((tensor) => tensor !== undefined);
  const neededRanges = missingRanges([{ begin: 0, end: file.size }], skippedTensors);
  return { file, skippedTensors, neededRanges };
}

function withoutPrefix(name: string, { tensorPrefix }: Model): string {
  return name.startsWith(tensorPrefix) ? name.slice(tensorPrefix.length) : name;
}
