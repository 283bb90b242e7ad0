import { InvalidOptionError } from '../batching/base/errors.ts';
import type { ModelSource } from '../protocol/models.ts';

/**
 * A model of a folder, or of its files.
 *
 * @param ofHub Options that only a model of the hub may have.
 * @throws InvalidOptionError for anything else, and for such an option.
 */
export async function toPickedSource(
  model: unknown,
  ofHub: Readonly<Record<string, unknown>>,
): Promise<ModelSource> {
  for (const [option, value] of Object.entries(ofHub))
    if (value !== undefined)
      throw InvalidOptionError.of(option, 'left out: this model is not of the hub', value);
  if (isHandle(model)) return { type: 'files', name: model.name, files: await filesIn(model) };
  const files = filesOf(model);
  if (!files)
    throw InvalidOptionError.of(
      'model',
      'a Hugging Face model ID, the address of a folder, or a File, a list of Files or a FileSystemDirectoryHandle that the user has picked',
      model,
    );
  const [folder = ''] = files[0]?.webkitRelativePath.split('/') ?? [];
  const [single, ...others] = files;
  const name = folder || (single && others.length === 0 ? single.name.replace(/\.gguf$/, '') : 'files');
  return { type: 'files', name, files: files.map((file) => withPath(file, pathBelow(file))) };
}

function isHandle(model: unknown): model is FileSystemDirectoryHandle {
  return typeof model === 'object' && model !== null && 'getFileHandle' in model;
}

/** Undefined for a value that has none. */
function filesOf(model: unknown): readonly File[] | undefined {
  if (model instanceof File) return [model];
  const isList = typeof model === 'object' && model !== null && Symbol.iterator in model;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- whatever it yields is checked
  const files: readonly unknown[] = isList ? [...(model as Iterable<unknown>)] : [model];
  return files.every((file) => file instanceof File) ? files : undefined;
}

/** The folder that says how a model of sentence-transformers pools. Others hold copies of the weights for other runtimes. */
const POOLING_FOLDER = '1_Pooling';

/** The files of a folder, and those of its pooling folder. */
async function filesIn(folder: FileSystemDirectoryHandle, path = ''): Promise<readonly File[]> {
  const files: File[] = [];
  for await (const entry of folder.values()) {
    if (isFile(entry)) files.push(withPath(await entry.getFile(), path + entry.name));
    else if (isFolder(entry) && path === '' && entry.name === POOLING_FOLDER)
      files.push(...(await filesIn(entry, `${POOLING_FOLDER}/`)));
  }
  return files;
}

/** Below the picked folder. */
function pathBelow({ name, webkitRelativePath }: File): string {
  return webkitRelativePath.split('/').slice(1).join('/') || name;
}

/** A file that has its path as its name: the worker of another tab sees no other path. */
function withPath(file: File, path: string): File {
  return file.name === path ? file : new File([file], path, { lastModified: file.lastModified });
}

function isFile(entry: FileSystemHandle): entry is FileSystemFileHandle {
  return entry.kind === 'file';
}

function isFolder(entry: FileSystemHandle): entry is FileSystemDirectoryHandle {
  return entry.kind === 'directory';
}
