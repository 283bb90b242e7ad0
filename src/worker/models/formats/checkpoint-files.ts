import { ModelFileCorruptError, ModelFileMissingError } from '../../../protocol/errors/model.ts';
import { modelFileMissing } from '../../../protocol/errors/model-messages.ts';

/** A file of a checkpoint: in memory, picked from disk, or on a hub. */
export interface RandomAccessFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** @returns The bytes from `begin` to `end`, exclusive, in a buffer of their own. */
  read(begin: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
}

export interface CheckpointFiles {
  /** @returns `undefined` where there is no such file. */
  open(name: string): Promise<RandomAccessFile | undefined>;
  /** The error for a file that is needed, if it can say where the file should be, and what is there. */
  missing?(name: string, detail: string): ModelFileMissingError;
}

/** The error for a file that could not be opened but is needed. */
export function missingFile(files: CheckpointFiles, name: string, detail: string): ModelFileMissingError {
  return files.missing?.(name, detail) ?? modelFileMissing(name, detail);
}

export function memoryFile(name: string, bytes: Uint8Array): RandomAccessFile {
  return {
    name,
    size: bytes.byteLength,
    // `slice` of Node's `Buffer` would be a view.
    read: (begin, end) => Promise.resolve(new Uint8Array(bytes.subarray(begin, end))),
  };
}

/**
 * @returns `undefined` where there is no such file.
 * @throws ModelFileCorruptError where it is not JSON.
 */
export async function readJson(files: CheckpointFiles, name: string): Promise<unknown> {
  const file = await files.open(name);
  if (!file) return undefined;
  const bytes = await file.read(0, file.size);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (cause) {
    throw ModelFileCorruptError.of(name, 'it is not JSON', cause);
  }
}

/** Changes with the names, the sizes and the times of picked files. */
export function stampOf(files: readonly File[]): string {
  const facts = files.map(({ name, size, lastModified }) => JSON.stringify([name, size, lastModified]));
  return facts.toSorted().join();
}

/** Files that the user has picked. Their names are their paths below the picked folder. */
export function localFiles(files: readonly File[]): CheckpointFiles {
  const byName = new Map(files.map((file) => [file.name, file]));
  return {
    open(name) {
      const file = byName.get(name);
      return Promise.resolve(
        file && {
          name,
          size: file.size,
          read: async (begin, end) => new Uint8Array(await file.slice(begin, end).arrayBuffer()),
        },
      );
    },
  };
}
