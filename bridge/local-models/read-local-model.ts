import { access, constants, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { BridgeError, codeOf, fileReasonOf } from '../base/errors.ts';
import { LocalModel, type LocalFile } from './local-model.ts';

/** Begins like a path, on Windows too. The ID of a model has neither a leading dot nor a backslash. */
const PATH = /^(?:\.{1,2}(?:$|[\\/])|[\\/]|[a-z]:[\\/])/i;

/** A folder's file that a model may need. */
const MODEL_FILE = /(?:\.(?:json|safetensors|gguf|jinja)|^(?:merges|vocab)\.txt)$/;

/** The folder that says how a model of sentence-transformers pools. */
const POOLING_FOLDER = '1_Pooling';

/** A file of several that hold one model. */
const PART = /-\d{5}-of-\d{5}\.gguf$/;

/** Whether an option's value names a file or a folder, and not a model of the hub. `owner/name:file.gguf` is on the hub. */
export function isModelPath(text: string): boolean {
  return PATH.test(text) || (text.endsWith('.gguf') && !text.includes(':'));
}

/**
 * Finds the files of a model.
 *
 * @param option Names the option of the command line.
 * @param path Of a GGUF file, or of a folder in the hub's layout.
 * @param isTaken Whether another model has a name already.
 * @throws BridgeError if there is no model, or its files can't be read.
 */
export async function readLocalModel(
  option: string,
  path: string,
  isTaken: (name: string) => boolean,
): Promise<LocalModel> {
  const given = `\`--${option} ${path}\``;
  try {
    const place = await realpath(path);
    const isFolder = (await stat(place)).isDirectory();
    const files = isFolder ? await filesIn(place) : await partsOf(place);
    const obstacle = isFolder ? obstacleIn([...files.keys()]) : obstacleOf(place);
    if (obstacle !== undefined) throw new BridgeError('MODEL_FILES_MISSING', `${given}: ${obstacle}`);
    await Promise.all([...files.values()].map((file) => access(file.path, constants.R_OK)));
    return new LocalModel(nameFor(basename(place), isTaken), files);
  } catch (error) {
    if (codeOf(error) === undefined || error instanceof BridgeError) throw error;
    const message = `Couldn't read ${given}: ${fileReasonOf(error)}. Name a GGUF file or a folder that this user may read. The ID of a model on the hub is owner/name.`;
    throw new BridgeError('MODEL_NOT_READABLE', message, error);
  }
}

/** Why these files of a folder are no model. */
function obstacleIn(names: readonly string[]): string | undefined {
  const has = (ending: string): boolean => names.some((name) => name.endsWith(ending));
  if (!names.includes('config.json'))
    return has('.gguf') ? undefined : 'the folder has neither a config.json nor a .gguf file.';
  if (has('.safetensors')) return undefined;
  const remedy = has('.gguf') ? 'Name the .gguf file itself.' : 'Name the folder that holds the weights.';
  return `the folder has a config.json and no .safetensors file. ${remedy}`;
}

function obstacleOf(file: string): string | undefined {
  return file.endsWith('.gguf')
    ? undefined
    : 'this is no GGUF file. Name one, or the folder that holds config.json.';
}

async function filesIn(folder: string): Promise<ReadonlyMap<string, LocalFile>> {
  const pooling = await readdir(join(folder, POOLING_FOLDER)).catch(() => []);
  const names = [...(await readdir(folder)), ...pooling.map((name) => `${POOLING_FOLDER}/${name}`)];
  return describe(
    folder,
    names.filter((name) => MODEL_FILE.test(name)),
  );
}

/** The file, and the others of a model that is split. */
async function partsOf(file: string): Promise<ReadonlyMap<string, LocalFile>> {
  const [folder, name] = [dirname(file), basename(file)];
  const base = name.replace(PART, '');
  const others = base === name ? [name] : await readdir(folder);
  const isPart = (other: string): boolean =>
    other === name || (PART.test(other) && other.replace(PART, '') === base);
  return describe(folder, others.filter(isPart));
}

async function describe(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, LocalFile>> {
  const files = new Map<string, LocalFile>();
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    const facts = await stat(path);
    if (facts.isFile()) files.set(name, { path, size: facts.size, mtimeMs: facts.mtimeMs });
  }
  return files;
}

/** The last part of an ID, which has these characters alone. */
function nameFor(file: string, isTaken: (name: string) => boolean): string {
  const plain = file
    .replace(PART, '')
    .replace(/\.gguf$/, '')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^\.+/, '');
  const name = plain === '' ? 'model' : plain;
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? name : `${name}-${number}`;
    if (!isTaken(numbered)) return numbered;
  }
}
