import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { memoryFile, type CheckpointFiles, type RandomAccessFile } from '../formats/checkpoint-files.ts';
import type { CheckpointSource } from '../checkpoint/find-tensors.ts';
import { readFloats } from '../formats/float-formats.ts';
import type { Fields } from '../config-fields.ts';
import { configOf } from './gguf-config.ts';
import { ropeFactorTensors, withRopeFactors } from './rope-factors.ts';
import { checkpointTensors } from './gguf-tensors.ts';
import { tokenizerOf } from './gguf-tokenizer.ts';
import { partsOf } from './choose-gguf.ts';
import { readGguf, type GgufHeader } from './read-gguf.ts';
import { modelFileMissing } from '../../../protocol/errors/model-messages.ts';

/**
 * A GGUF file, or all parts of a split one, as the files of a checkpoint: the metadata as `config.json` and tokenizer, the tensors
 * under their usual names.
 *
 * @param name The file, or the first part.
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError.
 */
export async function ggufFiles(files: CheckpointFiles, name: string): Promise<CheckpointSource> {
  const parts = await Promise.all(partsOf(name).map((part) => openPart(files, part)));
  const [first] = parts;
  if (!first) throw modelFileMissing(name, 'there is no such file');
  const tensors = new Map(parts.flatMap((part) => [...part.header.tensors]));
  const header = { ...first.header, tensors };
  const { config, generationConfig } = configOf(header, name);
  const { tokenizer, tokenizerConfig } = tokenizerOf(header, name);
  const contents = new Map<string, unknown>([
    ['config.json', withRopeFactors(config, await ropeFactors(parts, config), name)],
    ['generation_config.json', generationConfig],
    ['tokenizer.json', tokenizer],
    ['tokenizer_config.json', tokenizerConfig],
  ]);
  return {
    open: (json) => Promise.resolve(contents.has(json) ? jsonFile(json, contents.get(json)) : undefined),
    weights: parts.map((part) => ({
      file: part.file,
      tensors: checkpointTensors(withoutFactors(part.header.tensors, config), config),
    })),
  };
}

interface Part {
  readonly file: RandomAccessFile;
  readonly header: GgufHeader;
}

async function openPart(files: CheckpointFiles, name: string): Promise<Part> {
  const file = await files.open(name);
  if (!file) throw modelFileMissing(name, 'there is no such file');
  return { file, header: await readGguf(file) };
}

async function ropeFactors(
  parts: readonly Part[],
  config: Fields,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const factors = new Map<string, readonly number[]>();
  for (const name of ropeFactorTensors(config)) {
    for (const { file, header } of parts) {
      const view = header.tensors.get(name);
      if (!view) continue;
      if (view.dtype !== 'F32')
        throw UnsupportedModelError.of(`${file.name} stores ${name} as ${view.dtype}, not as F32`);
      factors.set(name, [...readFloats(await file.read(view.begin, view.end), view.dtype)]);
    }
  }
  return factors;
}

/** They are in the config by now. */
function withoutFactors(tensors: GgufHeader['tensors'], config: Fields): GgufHeader['tensors'] {
  const names = ropeFactorTensors(config);
  return new Map([...tensors].filter(([name]) => !names.includes(name)));
}

function jsonFile(name: string, value: unknown): RandomAccessFile {
  return memoryFile(name, new TextEncoder().encode(JSON.stringify(value)));
}
