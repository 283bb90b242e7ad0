import { existsSync, readFileSync } from 'node:fs';

import { readGpt2Config, type Gpt2Config } from '../../../../src/worker/models/gpt2/config.ts';
import { memoryFile } from '../../../../src/worker/models/checkpoint/checkpoint-files.ts';
import { packInMemory } from '../../../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../../../src/worker/models/checkpoint/open-checkpoint.ts';

export interface Weight {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** A folder in the hub's layout, read whole. */
export interface Checkpoint {
  readonly config: Gpt2Config;
  /** By the names of the family's tensors, which may join several of the checkpoint's. Conv1D weights are [in, out]. */
  readonly weights: ReadonlyMap<string, Weight>;
  readonly tokenizer: TokenizerJson;
}

/** The used part of a `tokenizer.json`. */
export interface TokenizerJson {
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    /** In order of rank, the two pieces separated by a space. */
    readonly merges: readonly string[];
  };
  readonly added_tokens: readonly { readonly id: number; readonly special: boolean }[];
}

export const STORYTELLER = new URL('../../../../public/models/storyteller/', import.meta.url);

/** @param folder URL of the folder of a GPT-2 checkpoint, ending in `/`. */
export async function readCheckpoint(folder: URL): Promise<Checkpoint> {
  const checkpoint = await openFolder(folder);
  const plan = planModel(checkpoint, 'fp32', { kind: 'wasm', memoryBytes: undefined });
  const { packed, weights: bytes } = await packInMemory(checkpoint, plan);
  const weights = packed.tensors.map(({ name, shape, offset, length }): [string, Weight] => [
    name,
    { shape, values: new Float32Array(bytes.slice(offset, offset + length).buffer) },
  ]);
  return {
    config: readGpt2Config(readJson(new URL('config.json', folder)), undefined),
    weights: new Map(weights),
    tokenizer: readJson(new URL('tokenizer.json', folder)),
  };
}

/** @throws ModelFileMissingError if a file is missing that the model needs. */
export function openFolder(folder: URL): ReturnType<typeof openCheckpoint> {
  return openCheckpoint({
    open(name) {
      const url = new URL(name, folder);
      return Promise.resolve(existsSync(url) ? memoryFile(name, readFileSync(url)) : undefined);
    },
  });
}

/** @throws Error if the checkpoint has no such weight. */
export function weightOf({ weights }: Pick<Checkpoint, 'weights'>, name: string): Weight {
  const weight = weights.get(name);
  if (!weight) throw new Error(`Expected the checkpoint to hold ${name}`);
  return weight;
}

/** [rows, columns] -> [columns, rows] */
export function transpose({ shape, values }: Weight): Weight {
  const [rows = 0, columns = 0] = shape;
  const transposed = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      transposed[column * rows + row] = values[row * columns + column] ?? 0;
    }
  }
  return { shape: [columns, rows], values: transposed };
}

// oxlint-disable-next-line typescript/no-explicit-any -- what JSON holds is for the caller to say
function readJson(url: URL): any {
  return JSON.parse(readFileSync(url, 'utf8'));
}
