import { isRecord } from '../../platform/is-record.ts';
import type { StoredModel } from '../../protocol/protocol.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { DtypeChoice } from '../../protocol/models.ts';
import { PACKED_FORMAT_VERSION, type PackedWeights } from '../checkpoint/packed-weights.ts';
import { bytesIn } from './byte-ranges.ts';
import {
  createFolder,
  filesIn,
  foldersIn,
  ifFound,
  openFolder,
  openSyncFile,
  readJsonFile,
  removeEntry,
  writeJsonFile,
} from './opfs.ts';
import { ModelFileCorruptError } from '../../protocol/errors/model.ts';
import { ModelStartError, StorageQuotaError } from '../../protocol/errors/hub.ts';
import { PartFile } from './part-file.ts';
import { digestOf } from './stored-digest.ts';
import { readJournal } from './range-journal.ts';
import type { SyncFile } from './sync-file.ts';

// tabserve/models/<key>/   weights.bin, texts.json, and last of all model.json: without it the model is none
// tabserve/parts/<key>/    download.json, <file> with <file>.journal for each file that is being fetched, reserve
// tabserve/served.json     what a worker that starts is to serve

/** Where a stored model came from. */
export interface ModelOrigin {
  /** The hub's id, or the name of a local folder. */
  readonly id: string;
  /** Origin of the hub; empty for a local folder, and so is what follows. */
  readonly hub: string;
  /** As it was asked for. */
  readonly revision: string;
  readonly commit: string;
}

/** `model.json`. */
export interface ModelManifest extends ModelOrigin {
  /** As it was asked for. */
  readonly dtypeChoice: DtypeChoice;
  /** Why `auto` chose what it did; empty where it is the best. */
  readonly dtypeReason: string;
  readonly packed: PackedWeights;
  /** Of the packed file, as `digestOf` has it. */
  readonly weightsDigest: string;
}

/** `texts.json`: what else a model needs to run. */
export type ModelTexts = Pick<Checkpoint, 'config' | 'generationConfig' | 'tokenizer' | 'tokenizerConfig'>;

/** A model that can be run from its folder. */
export interface ModelFolder {
  readonly key: string;
  readonly manifest: ModelManifest;
  /** @throws ModelFileCorruptError where the copy is damaged; then it is deleted. */
  readTexts(): Promise<ModelTexts>;
  /**
   * Reads all of them once, to know that they are as they were written. One at a time: whoever opens them closes them.
   *
   * @throws ModelFileCorruptError where the copy is damaged; then it is deleted.
   */
  openWeights(): Promise<SyncFile>;
}

interface DownloadNote extends ModelOrigin {
  /** Of the part files when they are whole. */
  readonly totalBytes: number;
}

const ROOT = 'tabserve';
const MANIFEST = 'model.json';
const TEXTS = 'texts.json';
const WEIGHTS = 'weights.bin';
const NOTE = 'download.json';
const JOURNAL = '.journal';
const RESERVE = 'reserve';
const SERVED = 'served.json';
/**
 * Of a stored model, in a row, none of which came to an end. A page that is closed meanwhile tells nothing of itself, and neither
 * does one that was ended for the memory it took; a worker whose predecessor has failed knows more.
 */
const MAX_STARTS = 5;
const MAX_STARTS_BEFORE_FAULT = 2;

/** Every model on this device: those that can run, and those of which a part is here. */
export class ModelStore {
  readonly #root: FileSystemDirectoryHandle;
  readonly #models: FileSystemDirectoryHandle;
  readonly #parts: FileSystemDirectoryHandle;

  private constructor(
    root: FileSystemDirectoryHandle,
    models: FileSystemDirectoryHandle,
    parts: FileSystemDirectoryHandle,
  ) {
    this.#root = root;
    this.#models = models;
    this.#parts = parts;
  }

  /** @throws ModelStoreError where the browser has no storage for it. */
  static async open(): Promise<ModelStore> {
    return new ModelStore(
      await openFolder(ROOT),
      await openFolder(ROOT, 'models'),
      await openFolder(ROOT, 'parts'),
    );
  }

  async list(): Promise<readonly StoredModel[]> {
    const models = await this.folders();
    const whole = models.map(({ key, manifest: { id, revision, packed } }): StoredModel => {
      const { dtype, size } = packed;
      return { key, id, revision, dtype, storedBytes: size, totalBytes: size };
    });
    const parts = await Promise.all((await foldersIn(this.#parts)).map(describeParts));
    return [...whole, ...parts.filter((part) => part !== undefined)];
  }

  /** All that can be run. */
  async folders(): Promise<readonly ModelFolder[]> {
    const folders = await Promise.all((await foldersIn(this.#models)).map((folder) => this.#read(folder)));
    return folders.filter((folder) => folder !== undefined);
  }

  /** A model, or what is here of one. Does nothing where there is none of this key. */
  async delete(key: string): Promise<void> {
    await removeEntry(this.#models, key);
    await removeEntry(this.#parts, key);
    const note = await readJsonFile(this.#root, SERVED);
    if (isRecord(note) && note['key'] === key) await removeEntry(this.#root, SERVED);
  }

  /**
   * Stores a model: `write` fills the packed file. It is there as a whole, or not at all.
   *
   * @throws StorageQuotaError, and what `write` throws; then nothing of it stays.
   */
  async write(
    origin: ModelOrigin,
    texts: ModelTexts,
    choice: Pick<ModelManifest, 'dtypeChoice' | 'dtypeReason'>,
    { dtype, precision }: Pick<PackedWeights, 'dtype' | 'precision'>,
    write: (file: SyncFile) => Promise<PackedWeights>,
  ): Promise<ModelFolder> {
    const key = keyOf(origin, `${dtype}.${precision}`);
    await removeEntry(this.#models, key);
    try {
      const folder = await createFolder(this.#models, key);
      const { packed, weightsDigest } = await writeWeights(folder, write);
      await writeJsonFile(folder, TEXTS, texts);
      const manifest: ModelManifest = { ...origin, ...choice, packed, weightsDigest };
      await writeJsonFile(folder, MANIFEST, manifest);
      return this.#modelFolder(folder, manifest);
    } catch (error) {
      await removeEntry(this.#models, key);
      throw error;
    }
  }

  /** The part files of a download, begun now or before. Those of the same model at other commits go. */
  async openParts(origin: ModelOrigin): Promise<Parts> {
    const key = keyOf(origin, 'parts');
    for (const folder of await foldersIn(this.#parts)) {
      const note = await readNote(folder);
      const isOutdated = note?.id === origin.id && note.hub === origin.hub && folder.name !== key;
      if (isOutdated || !note) await removeEntry(this.#parts, folder.name);
    }
    const folder = await createFolder(this.#parts, key);
    await writeJsonFile(folder, NOTE, { ...origin, totalBytes: 0 } satisfies DownloadNote);
    return new Parts(folder, origin, () => removeEntry(this.#parts, key));
  }

  /**
   * What this browser was told to serve, in place of the embedded model at `modelUrl`. Counts the starts until `endStart`.
   *
   * @param isAfterFault Whether the worker before this one has failed.
   * @throws ModelStartError after too many starts without an end, until `serve` says otherwise.
   * @throws ModelFileCorruptError where it is not here whole any more; then it is forgotten.
   */
  async served(modelUrl: string, isAfterFault: boolean): Promise<ModelFolder | undefined> {
    const note = await readJsonFile(this.#root, SERVED);
    if (!isRecord(note) || note['modelUrl'] !== modelUrl) return undefined;
    const key = String(note['key']);
    const numStarts = Number(note['numStarts']);
    if (!(numStarts < (isAfterFault ? MAX_STARTS_BEFORE_FAULT : MAX_STARTS))) {
      await this.#countStarts(note, MAX_STARTS);
      throw ModelStartError.of(nameIn(key));
    }
    const folder = (await this.folders()).find((stored) => stored.key === key);
    if (!folder) {
      await this.delete(key);
      throw ModelFileCorruptError.ofStored(nameIn(key), 'a part of it is missing');
    }
    await this.#countStarts(note, numStarts + 1);
    return folder;
  }

  /** The start of what `served` gave has come to an end, well or not. Does nothing where it was deleted since. */
  async endStart(key: string): Promise<void> {
    const note = await readJsonFile(this.#root, SERVED);
    if (isRecord(note) && note['key'] === key) await this.#countStarts(note, 0);
  }

  /** @param key Undefined for the embedded model. */
  async serve(modelUrl: string, key: string | undefined): Promise<void> {
    if (key === undefined) await removeEntry(this.#root, SERVED);
    else await writeJsonFile(this.#root, SERVED, { modelUrl, key, numStarts: 0 });
  }

  /** What a conversion has left that was not ended: its worker was. */
  async sweep(): Promise<void> {
    for (const folder of await foldersIn(this.#models)) {
      if (!(await this.#read(folder))) await removeEntry(this.#models, folder.name);
    }
  }

  async #countStarts(note: Readonly<Record<string, unknown>>, numStarts: number): Promise<void> {
    try {
      await writeJsonFile(this.#root, SERVED, { ...note, numStarts });
    } catch (error) {
      // A full disk cannot count; the model is here all the same.
      if (!(error instanceof StorageQuotaError)) throw error;
    }
  }

  /** Undefined for one that was not ended, or is of another version. */
  async #read(folder: FileSystemDirectoryHandle): Promise<ModelFolder | undefined> {
    const manifest = await readJsonFile(folder, MANIFEST);
    const weights = await ifFound(folder.getFileHandle(WEIGHTS));
    if (!weights || !isManifest(manifest)) return undefined;
    const { size } = await weights.getFile();
    return size >= manifest.packed.size ? this.#modelFolder(folder, manifest) : undefined;
  }

  #modelFolder(folder: FileSystemDirectoryHandle, manifest: ModelManifest): ModelFolder {
    const damaged = async (detail: string): Promise<ModelFileCorruptError> => {
      await this.delete(folder.name);
      return ModelFileCorruptError.ofStored(manifest.id, detail);
    };
    return {
      key: folder.name,
      manifest,
      async readTexts() {
        const texts = await readJsonFile(folder, TEXTS);
        if (!isTexts(texts)) throw await damaged('its configuration cannot be read');
        return texts;
      },
      async openWeights() {
        const file = await openSyncFile(folder, WEIGHTS);
        let isWhole = false;
        try {
          isWhole = (await digestOf(file, manifest.packed.size)) === manifest.weightsDigest;
        } finally {
          if (!isWhole) file.close();
        }
        if (!isWhole) throw await damaged('its weights are not what was stored');
        return file;
      },
    };
  }
}

/** The part files of one download, which this worker alone holds until they are closed. */
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

  /** How much there will be, for whoever lists it. */
  async note(totalBytes: number): Promise<void> {
    await writeJsonFile(this.#folder, NOTE, { ...this.#origin, totalBytes } satisfies DownloadNote);
  }

  /**
   * Takes the room that something else will need when these files are whole, until `release`: a browser's estimate of what
   * is left says little (Chromium's always says 10 GiB).
   *
   * @throws StorageQuotaError where there is less.
   */
  async reserve(numBytes: number): Promise<void> {
    const file = await openSyncFile(this.#folder, RESERVE);
    try {
      file.truncate(numBytes);
    } finally {
      file.close();
    }
  }

  async release(): Promise<void> {
    await removeEntry(this.#folder, RESERVE);
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

async function writeWeights(
  folder: FileSystemDirectoryHandle,
  write: (file: SyncFile) => Promise<PackedWeights>,
): Promise<Pick<ModelManifest, 'packed' | 'weightsDigest'>> {
  const file = await openSyncFile(folder, WEIGHTS);
  try {
    const packed = await write(file);
    file.flush();
    return { packed, weightsDigest: await digestOf(file, packed.size) };
  } finally {
    file.close();
  }
}

/** The version says who has written the rest. */
function isManifest(value: unknown): value is ModelManifest {
  const packed = isRecord(value) ? value['packed'] : undefined;
  return isRecord(packed) && packed['formatVersion'] === PACKED_FORMAT_VERSION;
}

/** Written in one go: it is whole, or no JSON. */
function isTexts(value: unknown): value is ModelTexts {
  return isRecord(value) && 'config' in value && 'tokenizer' in value;
}

async function readNote(folder: FileSystemDirectoryHandle): Promise<DownloadNote | undefined> {
  const note = await readJsonFile(folder, NOTE);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this class
  return isRecord(note) && 'totalBytes' in note ? (note as unknown as DownloadNote) : undefined;
}

async function describeParts(folder: FileSystemDirectoryHandle): Promise<StoredModel | undefined> {
  const note = await readNote(folder);
  if (!note) return undefined;
  const { id, revision, totalBytes } = note;
  return { key: folder.name, id, revision, storedBytes: await storedBytesIn(folder), totalBytes };
}

/** By the journals: a part file is as long as its last byte is far from its first. */
async function storedBytesIn(folder: FileSystemDirectoryHandle): Promise<number> {
  let bytes = 0;
  for (const file of await filesIn(folder)) {
    if (file.name.endsWith(JOURNAL)) bytes += bytesIn(readJournal(await file.arrayBuffer(), Infinity));
  }
  return bytes;
}

/** A folder's name; in OPFS it may hold no slash. */
function keyOf({ id, hub, commit }: ModelOrigin, suffix: string): string {
  const host = hub === '' ? 'local' : new URL(hub).host;
  return encodeURIComponent(`${host}/${id}@${commit}.${suffix}`);
}

/** The id in a folder's name, where its manifest cannot tell it any more. */
function nameIn(key: string): string {
  const [id = key] = decodeURIComponent(key).split('@');
  return id.slice(id.indexOf('/') + 1);
}
