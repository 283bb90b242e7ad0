import type { ModelSource } from '../protocol/models.ts';

/** A model of a folder, or of its files. */
export async function toPickedSource(
  model: File | FileSystemDirectoryHandle | Iterable<File>,
): Promise<ModelSource> {
  if ('getFileHandle' in model) return { type: 'files', name: model.name, files: await filesIn(model) };
  const files = model instanceof File ? [model] : [...model];
  const [folder = ''] = files[0]?.webkitRelativePath.split('/') ?? [];
  const [single, ...others] = files;
  const name = folder || (single && others.length === 0 ? single.name.replace(/\.gguf$/, '') : 'files');
  return { type: 'files', name, files: files.map((file) => withPath(file, pathBelow(file))) };
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
