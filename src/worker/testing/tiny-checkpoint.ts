import { readModel } from '../models/families/families.ts';
import { countElements } from '../models/program/model-config.ts';
import { safetensorsFile } from './safetensors-builder.ts';
import { memoryFile, type CheckpointFiles } from '../models/formats/checkpoint-files.ts';

type TensorSpecs = Parameters<typeof safetensorsFile>[0];

/** Test support: one layer of 64, 20 tokens. */
export const TINY_CONFIG = {
  model_type: 'gpt2',
  n_embd: 64,
  n_head: 2,
  n_layer: 1,
  n_positions: 16,
  vocab_size: 20,
};

/** Test support: every tensor of the config in fp32, with these values. */
export function tinyTensors(
  config: object = TINY_CONFIG,
  valueAt: (i: number) => number = () => 0,
): TensorSpecs {
  const specs = readModel(config, undefined).program.weights.map(
    ({ name, shape }): [string, TensorSpecs[string]] => {
      const values = Float32Array.from({ length: countElements(shape) }, (_, i) => valueAt(i));
      return [name, { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) }];
    },
  );
  return Object.fromEntries(specs);
}

/** Test support: a checkpoint in memory; what is not bytes becomes JSON. */
export function filesOf(files: Readonly<Record<string, unknown>>): CheckpointFiles {
  return {
    open(name) {
      const content = Object.hasOwn(files, name) ? files[name] : undefined;
      if (content === undefined) return Promise.resolve(undefined);
      const bytes =
        content instanceof Uint8Array ? content : new TextEncoder().encode(JSON.stringify(content));
      return Promise.resolve(memoryFile(name, bytes));
    },
  };
}

/** Test support: the files of a checkpoint with these tensors in one file. */
export function tinyFiles(tensors: TensorSpecs = tinyTensors(), others: object = {}): CheckpointFiles {
  return filesOf({
    'config.json': TINY_CONFIG,
    'tokenizer.json': { model: { type: 'BPE', vocab: {}, merges: [] }, decoder: { type: 'ByteLevel' } },
    'model.safetensors': safetensorsFile(tensors),
    ...others,
  });
}
