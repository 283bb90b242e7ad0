import { isRecord } from '../../platform/is-record.ts';
import {
  ModelFileCorruptError,
  ModelFileMissingError,
  UnsupportedModelError,
} from '../../protocol/errors/model.ts';
import { readGpt2Config } from '../gpt2/config.ts';
import { gpt2Tensors, type Gpt2Tensor } from '../gpt2/tensors.ts';
import { readSafetensorsIndex, type SafetensorsIndex } from './safetensors.ts';
import type { ByteRange, Checkpoint, CheckpointTensor, SkippedMask, WeightFile } from './checkpoint.ts';
import type { CheckpointFiles, RandomAccessFile } from './checkpoint-files.ts';
import { readJson, readRequiredJson } from './read-json.ts';
import { readTokenizerFiles } from '../tokenizer/tokenizer-files.ts';

const WHOLE = 'model.safetensors';
const SHARD_INDEX = 'model.safetensors.index.json';

/** Some checkpoints were saved from the model with its head, others from the model below it. */
const PREFIX = 'transformer.';

const CAUSAL_MASK = /^h\.\d+\.attn\.bias$/;

const READABLE_DTYPES: ReadonlySet<string> = new Set(['F32', 'F16', 'BF16']);

/** Of this folder: a path into another one is none of a checkpoint's. */
const SHARD_NAME = /^[^/\\]+\.safetensors$/;

/**
 * Reads all that a checkpoint says about itself: its JSON files, and of its weight files the headers alone. Every
 * tensor of the forward pass is found, and its shape and dtype are checked.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError.
 */
export async function openCheckpoint(files: CheckpointFiles): Promise<Checkpoint> {
  const [config, generationConfig, tokenizerFiles] = await Promise.all([
    readRequiredJson(files, 'config.json').then(readGpt2Config),
    readJson(files, 'generation_config.json'),
    readTokenizerFiles(files),
  ]);
  const indexed = await indexWeightFiles(files);
  const tensors = findTensors(indexed, gpt2Tensors(config));
  return {
    config,
    generationConfig,
    ...tokenizerFiles,
    weightFiles: indexed.map(describeWeightFile),
    tensors,
    numParameters: gpt2Tensors(config).reduce((sum, { shape }) => sum + countElements(shape), 0),
  };
}

interface IndexedFile {
  readonly file: RandomAccessFile;
  readonly index: SafetensorsIndex;
}

async function indexWeightFiles(files: CheckpointFiles): Promise<readonly IndexedFile[]> {
  const whole = await files.open(WHOLE);
  if (whole) return [{ file: whole, index: await readSafetensorsIndex(whole) }];
  const shards = await readShardNames(files);
  return Promise.all(
    shards.map(async (name) => {
      const file = await files.open(name);
      if (!file) throw ModelFileMissingError.of(name, `${SHARD_INDEX} names it, but there is no such file`);
      return { file, index: await readSafetensorsIndex(file) };
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

function findTensors(
  files: readonly IndexedFile[],
  wanted: readonly Gpt2Tensor[],
): ReadonlyMap<string, CheckpointTensor> {
  const all = new Map<string, CheckpointTensor>();
  for (const { file, index } of files) {
    for (const [name, view] of index.tensors) all.set(withoutPrefix(name), { ...view, file });
  }
  const listed = files.length === 1 ? (files[0]?.file.name ?? WHOLE) : SHARD_INDEX;
  return new Map(wanted.map((tensor) => [tensor.name, requireTensor(all, tensor, listed)]));
}

function requireTensor(
  all: ReadonlyMap<string, CheckpointTensor>,
  { name, shape }: Gpt2Tensor,
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
  if (!READABLE_DTYPES.has(tensor.dtype)) {
    throw UnsupportedModelError.of(`tensor ${name} is stored as ${tensor.dtype}, not as F32, F16 or BF16`);
  }
  return tensor;
}

function describeWeightFile({ file, index }: IndexedFile): WeightFile {
  const skippedMasks: SkippedMask[] = [];
  for (const [name, view] of index.tensors) {
    const [batch, head, rows, columns] = view.shape;
    const isSquare = view.shape.length === 4 && batch === 1 && head === 1 && rows === columns;
    if (isSquare && CAUSAL_MASK.test(withoutPrefix(name))) skippedMasks.push({ name, ...view });
  }
  skippedMasks.sort((a, b) => a.begin - b.begin);
  return { file, skippedMasks, neededRanges: rangesBetween(skippedMasks, file.size) };
}

function rangesBetween(gaps: readonly ByteRange[], end: number): readonly ByteRange[] {
  const starts = [0, ...gaps.map((gap) => gap.end)];
  const ends = [...gaps.map((gap) => gap.begin), end];
  return starts
    .map((begin, i) => ({ begin, end: ends[i] ?? end }))
    .filter((range) => range.begin < range.end);
}

function withoutPrefix(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

function countElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
