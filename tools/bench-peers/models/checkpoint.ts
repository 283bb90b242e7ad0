import { readFileSync } from 'node:fs';

import { readGpt2Config, type Gpt2Config } from '../../../src/worker/model/gpt2-config.ts';
import { gpt2WeightShapes } from '../../../src/worker/model/gpt2-graph.ts';
import { readSafetensorsIndex } from '../../../src/worker/model/safetensors.ts';
import { placeWeights } from '../../../src/worker/model/weights.ts';

export interface Weight {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** A GPT-2 folder in the hub's layout, read whole. */
export interface Checkpoint {
  readonly config: Gpt2Config;
  /** Under the checkpoint's own names; Conv1D weights are [in, out]. */
  readonly weights: ReadonlyMap<string, Weight>;
  readonly tokenizer: TokenizerJson;
}

/** What is read of a `tokenizer.json`. */
export interface TokenizerJson {
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    /** In order of rank, the two pieces separated by a space. */
    readonly merges: readonly string[];
  };
  readonly added_tokens: readonly { readonly id: number; readonly special: boolean }[];
}

export const STORYTELLER = new URL('../../../public/models/storyteller/', import.meta.url);

/** @param folder URL of the folder, ending in `/`. */
export function readCheckpoint(folder: URL): Checkpoint {
  const config = readGpt2Config(readJson(new URL('config.json', folder)));
  const file = new Uint8Array(readFileSync(new URL('model.safetensors', folder)));
  const index = readSafetensorsIndex(file, 'model.safetensors');
  const { data, initializers } = placeWeights(file, index, gpt2WeightShapes(config), 'float32');
  const weights = new Map<string, Weight>();
  for (const { name, dims, data: place } of initializers.values()) {
    if (!('offset' in place)) throw new TypeError(`Expected the weight ${name} to lie in a file`);
    // Sliced, because an in-place checkpoint may hold its tensors unaligned.
    const bytes = data.slice(place.offset, place.offset + place.length);
    weights.set(name, { shape: dims, values: new Float32Array(bytes.buffer) });
  }
  return { config, weights, tokenizer: readJson(new URL('tokenizer.json', folder)) };
}

/** @throws where the checkpoint has no such weight. */
export function weightOf({ weights }: Checkpoint, name: string): Weight {
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
