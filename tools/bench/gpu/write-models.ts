import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ggufCheckpoint } from '../../hub-server/checkpoints/gguf-checkpoint.ts';
import { writeCheckpoints } from '../../hub-server/checkpoints/write-checkpoints.ts';
import type { GgufType } from '../../../src/worker/testing/gguf-builder.ts';
import { buildStandardModel, type ExportedDtype } from '../peers/models/standard-interface.ts';
import type { Precision } from './contender.ts';
import type { Shape } from './shapes.ts';

/** Returns transformers.js's name for a precision. On an adapter with `shader-f16`, the part that our q4 leaves unquantized is fp16. */
export function exportedDtypeOf(precision: Precision, hasShaderF16: boolean): ExportedDtype {
  return precision === 'q4' && hasShaderF16 ? 'q4f16' : precision;
}

const GGUF_TYPES: Readonly<Record<Precision, GgufType>> = { fp32: 'F32', fp16: 'F16', q4: 'Q4_0' };

/** The suffix of transformers.js's file name for each dtype. */
const ONNX_SUFFIXES: Readonly<Record<ExportedDtype, string>> = {
  fp32: '',
  fp16: '_fp16',
  q4: '_q4',
  q4f16: '_q4f16',
};

/** Writes a model's own files; returns their names. */
export function writeModel(modelsFolder: string, shape: Shape): readonly string[] {
  const checkpoint = shape.generate();
  writeCheckpoints(modelsFolder, new Map([[shape.id, () => checkpoint]]));
  return [...checkpoint.keys()];
}

/** Writes the same weights for the other libraries. Replaces files of another precision. */
export async function writePeerFiles(
  modelsFolder: string,
  shape: Shape,
  precision: Precision,
  exportedDtype: ExportedDtype,
): Promise<void> {
  const folder = join(modelsFolder, shape.id);
  const url = pathToFileURL(`${folder}/`);
  const onnxFolder = `${folder}-onnx`;
  await rm(onnxFolder, { recursive: true, force: true });
  await mkdir(join(onnxFolder, 'onnx'), { recursive: true });
  const onnxFile = join(onnxFolder, 'onnx', `model${ONNX_SUFFIXES[exportedDtype]}.onnx`);
  await writeFile(onnxFile, await buildStandardModel(url, exportedDtype));
  for (const name of ['config.json', 'generation_config.json'])
    await copyFile(join(folder, name), join(onnxFolder, name));
  // transformers.js refuses a tokenizer that leaves the field out.
  await copyJson(join(folder, 'tokenizer.json'), join(onnxFolder, 'tokenizer.json'), { normalizer: null });
  // A list of prompts needs a padding token.
  const name = 'tokenizer_config.json';
  await copyJson(join(folder, name), join(onnxFolder, name), { pad_token: '<|endoftext|>' });
  await writeFile(`${folder}.gguf`, await ggufCheckpoint(shape.generate(), GGUF_TYPES[precision]));
}

async function copyJson(source: string, target: string, added: object): Promise<void> {
  const fields: object = JSON.parse(await readFile(source, 'utf8'));
  await writeFile(target, JSON.stringify({ ...fields, ...added }));
}
