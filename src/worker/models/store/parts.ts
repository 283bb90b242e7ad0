import { isRecord } from '../../../platform/is-record.ts';
import type { StoredModel } from '../../../protocol/models.ts';
import { bytesIn } from '../formats/byte-ranges.ts';
import type { ModelOrigin } from './model-folder.ts';
import { filesIn, openSyncFile, readJsonFile, writeJsonFile } from './opfs.ts';
import { PartFile, readJournal } from './part-file.ts';

interface DownloadNote extends ModelOrigin {
  /** The size of the complete part files. */
  readonly totalBytes: number;
}

const NOTE = 'download.json';
const JOURNAL = '.journal';

/** The part files of one download. No other worker can open them until they are closed. */
export class Parts {
  readonly #folder: FileSystemDirectoryHandle;
  readonly #origin: ModelOrigin;
  readonly #remove: () => Promise<void>;
  readonly #open = new Set<PartFile>();

  constructor(folder: FileSystemDirectoryHandle, origin: ModelOrigin, remove: () => Promise<void>) {
    this.#folder = folder;
    this.#origin = origin;
    this.#remove = remove;
  }

  async open(path: string, size: number): Promise<PartFile> {
    const name = encodeURIComponent(path);
    const data = await openSyncFile(this.#folder, name);
    const part = new PartFile(data, await openSyncFile(this.#folder, `${name}${JOURNAL}`), size);
    this.#open.add(part);
    return part;
  }

  /** Records the size of the whole download for lists of models. */
  async note(totalBytes: number): Promise<void> {
    await writeJsonFile(this.#folder, NOTE, { ...this.#origin, totalBytes } satisfies DownloadNote);
  }

  close(): void {
    for (const part of this.#open) part.close();
    this.#open.clear();
  }

  async delete(): Promise<void> {
    this.close();
    await this.#remove();
  }
}

export async function readNote(folder: FileSystemDirectoryHandle): Promise<DownloadNote | undefined> {
  const note = await readJsonFile(folder, NOTE);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this class
  return isRecord(note) && 'totalBytes' in note ? (note as unknown as DownloadNote) : undefined;
}

export async function describeParts(folder: FileSystemDirectoryHandle): Promise<StoredModel | undefined> {
  const note = await readNote(folder);
  if (!note) return undefined;
  const { id, revision, totalBytes } = note;
  return { key: folder.name, id, revision, storedBytes: await storedBytesIn(folder), totalBytes };
}

/** Counts by the journals, since a part file has gaps. */
async function storedBytesIn(folder: FileSystemDirectoryHandle): Promise<number> {
  let bytes = 0;
  for (const file of await filesIn(folder)) {
    if (file.name.endsWith(JOURNAL)) bytes += bytesIn(readJournal(await file.arrayBuffer(), Infinity));
  }
  return bytes;
}
