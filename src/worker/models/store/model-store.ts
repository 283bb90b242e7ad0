import * as v from 'valibot';
import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import { StorageQuotaError } from '../../../protocol/errors/hub.ts';
import { dtypeChoice, fetchedSource, type StoredModel } from '../../../protocol/models.ts';
import { parse, type Wire } from '../../../protocol/wire.ts';
import { PACKED_FORMAT_VERSION, type PackedLayout } from '../checkpoint/packed-weights.ts';
import {
  ModelFolder,
  type ModelManifest,
  type ModelOrigin,
  type ModelTexts,
  type WriteWeights,
} from './model-folder.ts';
import {
  createFolder,
  foldersIn,
  ifFound,
  openFolder,
  readJsonFile,
  removeEntry,
  writeJsonFile,
} from './opfs.ts';
import { describeParts, Parts, readNote } from './parts.ts';
import { startsBrokeOff } from './store-errors.ts';
import { storedModelCorrupt } from '../../../protocol/errors/model-messages.ts';

// Below the app's folder, which is `tabserve` for an app without a name:
// models/<key>/   weights.bin, texts.json, and model.json, which is written last: it marks a complete model
// parts/<key>/    download.json, and <file> with <file>.journal for each file that is being fetched
// served.json     the model that a starting worker serves; that of another deployment is in <its name>.json
// gpus.json       the GPUs that have computed right values

/** The text generator's note. Another deployment's has its name. */
const SERVED = 'served';
const CHECKED_GPUS = 'gpus.json';
/** An update of the browser makes another one. */
const MAX_CHECKED_GPUS = 32;
/**
 * Starts of a stored model that did not end, in a row. A page that was closed doesn't count, but not every browser lets it say so before it is gone, so
 * several are allowed; after a known fault, fewer.
 */
const MAX_STARTS = 5;
const MAX_STARTS_BEFORE_FAULT = 2;

const fetchedModel = v.object({ source: fetchedSource, dtype: dtypeChoice });
/** A model that is fetched at each start, and its precision. */
export type FetchedModel = Wire<typeof fetchedModel>;

/** A model that a user has chosen in place of the one that the app names. */
export type ChosenModel = ModelFolder | FetchedModel;

/** What a starting worker knows of itself, and of the one before. */
export interface StartFacts {
  /** Whether the previous worker failed. */
  readonly isAfterFault: boolean;
  /** Names this worker. Left out where its tab can't. */
  readonly worker: string | undefined;
  /** Names the last worker that its tab has ended by itself, if it did. */
  readonly left: string | undefined;
}

/** `served.json`. */
const servedNote = v.object({
  /** Names the model that the app begins with. After another one is named there, the note no longer counts. */
  first: v.string(),
  /** The key of a stored model, or a model that is fetched. */
  model: v.union([v.string(), fetchedModel]),
  /** Starts of a stored model that did not end, in a row. */
  numStarts: v.number(),
  /** Names the worker of the last one. */
  startedBy: v.optional(v.string()),
});
type ServedNote = Wire<typeof servedNote>;

/** The models on this device, complete ones and partial downloads. */
export class ModelStore {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * @param root Name of the app's folder.
   * @throws ModelStoreError if the browser has no storage for it.
   */
  static async open(root: string): Promise<ModelStore> {
    await openFolder(root);
    return new ModelStore(root);
  }

  /** Opened for each use: the user may clear the site's data under an open page, and a kept handle would be of a folder that is gone. */
  #open(...path: readonly ('models' | 'parts')[]): Promise<FileSystemDirectoryHandle> {
    return openFolder(this.#root, ...path);
  }

  async list(): Promise<readonly StoredModel[]> {
    const models = await this.folders();
    const whole = models.map(({ key, manifest: { id, revision, packed } }): StoredModel => {
      const { dtype, size } = packed;
      return { key, id, revision, dtype, storedBytes: size, totalBytes: size };
    });
    const parts = await Promise.all((await foldersIn(await this.#open('parts'))).map(describeParts));
    return [...whole, ...parts.filter((part) => part !== undefined)];
  }

  /** The complete models. */
  async folders(): Promise<readonly ModelFolder[]> {
    const folders = await Promise.all(
      (await foldersIn(await this.#open('models'))).map((folder) => this.#read(folder)),
    );
    return folders.filter((folder) => folder !== undefined);
  }

  /** Deletes a model or its partial download. Does nothing if there is none of this key. */
  async delete(key: string): Promise<void> {
    await removeEntry(await this.#open('models'), key);
    await removeEntry(await this.#open('parts'), key);
    for (const note of [SERVED, EMBEDDER, RERANKER]) {
      const served = await this.#readServed(note);
      if (served?.model === key) await removeEntry(await this.#open(), fileOf(note));
    }
  }

  /**
   * Stores a model: `write` fills the packed file. If it fails, nothing stays.
   *
   * @throws StorageQuotaError, and what `write` throws.
   */
  async write(
    origin: ModelOrigin,
    texts: ModelTexts,
    choice: Pick<ModelManifest, 'dtypeChoice' | 'dtypeReason' | 'hadFloat16'>,
    layout: PackedLayout,
    write: WriteWeights,
  ): Promise<ModelFolder> {
    const key = keyOf(origin, `${layout.dtype}.${layout.precision}`);
    const facts = { ...origin, ...choice, packed: { ...layout, formatVersion: PACKED_FORMAT_VERSION } };
    await removeEntry(await this.#open('models'), key);
    try {
      const folder = await createFolder(await this.#open('models'), key);
      return await ModelFolder.write({ folder, remove: () => this.delete(key) }, facts, texts, write);
    } catch (error) {
      await removeEntry(await this.#open('models'), key);
      throw error;
    }
  }

  /** The part files of a new or interrupted download. Deletes those of the same model at other commits. */
  async openParts(origin: ModelOrigin): Promise<Parts> {
    const key = keyOf(origin, 'parts');
    for (const folder of await foldersIn(await this.#open('parts'))) {
      const note = await readNote(folder);
      const isOutdated = note?.id === origin.id && note.hub === origin.hub && folder.name !== key;
      if (isOutdated || !note) await removeEntry(await this.#open('parts'), folder.name);
    }
    const folder = await createFolder(await this.#open('parts'), key);
    const parts = new Parts(folder, origin, async () => removeEntry(await this.#open('parts'), key));
    await parts.note(0);
    return parts;
  }

  /**
   * The model that was chosen in place of the app's first one, if any. Counts the starts of a stored one until `endStart`.
   *
   * @param first Names the model that the app begins with.
   * @param note Names what it serves for: the text generator by default, or a deployment of encoders.
   * @throws ModelStartError after too many starts that did not end, until the next `serve`.
   * @throws ModelFileCorruptError if it is incomplete; then it is deleted.
   */
  async served(first: string, start: StartFacts, note = SERVED): Promise<ChosenModel | undefined> {
    const served = await this.#readServed(note);
    if (served?.first !== first) return undefined;
    const { model: key, startedBy } = served;
    if (typeof key !== 'string') return key;
    const { isAfterFault, worker, left } = start;
    const wasLeft = startedBy !== undefined && startedBy === left;
    const numStarts = wasLeft ? Math.max(0, served.numStarts - 1) : served.numStarts;
    if (!(numStarts < (isAfterFault ? MAX_STARTS_BEFORE_FAULT : MAX_STARTS))) {
      await this.#writeServed({ ...served, numStarts: MAX_STARTS }, note);
      throw startsBrokeOff(nameIn(key));
    }
    const counted = this.#writeServed({ ...served, numStarts: numStarts + 1, startedBy: worker }, note);
    const [folder] = await Promise.all([this.#find(key), counted]);
    if (folder) return folder;
    await this.delete(key);
    throw storedModelCorrupt(nameIn(key), 'a part of it is missing');
  }

  /** As `served`, without a count of starts or a repair. Undefined also where the stored model is not whole. */
  async chosen(first: string): Promise<ChosenModel | undefined> {
    const served = await this.#readServed(SERVED);
    if (served?.first !== first) return undefined;
    if (typeof served.model !== 'string') return served.model;
    return this.#find(served.model);
  }

  /** The start of the model that `served` gave has ended, well or not. Does nothing if it was deleted since. */
  async endStart(key: string): Promise<void> {
    const served = await this.#readServed(SERVED);
    if (served?.model === key) await this.#writeServed({ ...served, numStarts: 0 }, SERVED);
  }

  /**
   * Remembers what the next workers serve.
   *
   * @param first As in `served`.
   * @param chosen Undefined for that first model.
   * @param note As in `served`.
   */
  async serve(first: string, chosen: ChosenModel | undefined, note = SERVED): Promise<void> {
    if (!chosen) {
      await removeEntry(await this.#open(), fileOf(note));
      return;
    }
    const model = 'source' in chosen ? chosen : chosen.key;
    const served: ServedNote = { first, model, numStarts: 0 };
    await writeJsonFile(await this.#open(), fileOf(note), served);
  }

  /** Whether this GPU has computed right values. */
  async isChecked(gpu: string): Promise<boolean> {
    return (await this.#readCheckedGpus()).includes(gpu);
  }

  async noteChecked(gpu: string): Promise<void> {
    const gpus = [gpu, ...(await this.#readCheckedGpus())].slice(0, MAX_CHECKED_GPUS);
    await writeJsonFile(await this.#open(), CHECKED_GPUS, gpus);
  }

  async #readCheckedGpus(): Promise<readonly unknown[]> {
    const gpus = await readJsonFile(await this.#open(), CHECKED_GPUS);
    return Array.isArray(gpus) ? gpus : [];
  }

  /** Deletes the remains of conversions whose worker was terminated. */
  async sweep(): Promise<void> {
    for (const folder of await foldersIn(await this.#open('models'))) {
      if (!(await this.#read(folder))) await removeEntry(await this.#open('models'), folder.name);
    }
  }

  async #readServed(note: string): Promise<ServedNote | undefined> {
    return parse(servedNote, await readJsonFile(await this.#open(), fileOf(note)));
  }

  async #writeServed(served: ServedNote, note: string): Promise<void> {
    try {
      await writeJsonFile(await this.#open(), fileOf(note), served);
    } catch (error) {
      // A full disk cannot count starts, but the model can still run.
      if (!(error instanceof StorageQuotaError)) throw error;
    }
  }

  /** The complete model of this key. */
  async #find(key: string): Promise<ModelFolder | undefined> {
    const folder = await ifFound((await this.#open('models')).getDirectoryHandle(key));
    return folder && this.#read(folder);
  }

  #read(folder: FileSystemDirectoryHandle): Promise<ModelFolder | undefined> {
    return ModelFolder.read({ folder, remove: () => this.delete(folder.name) });
  }
}

function fileOf(note: string): string {
  return `${note}.json`;
}

/** A folder's name. OPFS allows no slashes in it. Picked files take the place of those of the same name. */
function keyOf({ id, hub, commit }: ModelOrigin, suffix: string): string {
  const place = hub === '' ? `local/${id}@` : `${new URL(hub).host}/${id}@${commit}`;
  return encodeURIComponent(`${place}.${suffix}`);
}

/** The model's id in a folder's name, for a folder without a readable manifest. */
function nameIn(key: string): string {
  const [id = key] = decodeURIComponent(key).split('@');
  return id.slice(id.indexOf('/') + 1);
}
