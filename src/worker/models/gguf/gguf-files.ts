import { ModelFileMissingError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { memoryFile, type CheckpointFiles, type RandomAccessFile } from '../checkpoint/checkpoint-files.ts';
import type { CheckpointSource } from '../checkpoint/find-tensors.ts';
import { readFloats } from '../checkpoint/float-formats.ts';
import type { Fields } from '../config-fields.ts';
import { configOf, withRopeFactors } from './gguf-config.ts';
import { checkpointTensors } from './gguf-tensors.ts';
import { tokenizerOf } from './gguf-tokenizer.ts';
import { partsOf } from './choose-gguf.ts';
import { readGguf, type GgufHeader } from './read-gguf.ts';

const ROPE_FACTORS = 'rope_freqs.weight';

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
  if (!first) throw ModelFileMissingError.of(name, 'there is no such file');
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
  if (!file) throw ModelFileMissingError.of(name, 'there is no such file');
  return { file, header: await readGguf(file) };
}

/** The factors of Llama 3's frequencies, which no metadata has. llama.cpp reads them for no other architecture. */
async function ropeFactors(parts: readonly Part[], config: Fields): Promise<readonly number[] | undefined> {
  const part = parts.find(({ header }) => header.tensors.has(ROPE_FACTORS));
  const view = part?.header.tensors.get(ROPE_FACTORS);
  if (!part || !view || config['model_type'] !== 'llama') return undefined;
  if (view.dtype === 'F32') return [...readFloats(await part.file.read(view.begin, view.end), view.dtype)];
  throw UnsupportedModelError.of(`${part.file.name} stores ${ROPE_FACTORS} as ${view.dtype}, not as F32`);
}

/** They are in the config by now. */
function withoutFactors(tensors: GgufHeader['tensors'], config: Fields): GgufHeader['tensors'] {
  return new Map([...tensors].filter(([name]) => name !== ROPE_FACTORS || config['model_type'] !== 'llama'));
}

function jsonFile(name: string, value: unknown): RandomAccessFile {
  return memoryFile(name, new TextEncoder().encode(JSON.stringify(value)));
}
