import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { DtypeChoice } from '../../../protocol/models.ts';
import { PACKED_FORMAT_VERSION, type PackedLayout } from '../checkpoint/packed-weights.ts';
import { ifFound, openSyncFile, readJsonFile, writeJsonFile, type SyncFile } from './opfs.ts';
import { digestOf } from './stored-digest.ts';

/** Where a stored model came from. */
export interface ModelOrigin {
  /** The hub's id, or the name of a local folder. */
  readonly id: string;
  /** Origin of the hub. Empty for a local folder, like revision and commit. */
  readonly hub: string;
  /** As requested: a branch, a tag or a commit. */
  readonly revision: string;
  readonly commit: string;
}

/** `model.json`. */
export interface ModelManifest extends ModelOrigin {
  /** As requested. */
  readonly dtypeChoice: DtypeChoice;
  /** Why `auto` did not choose the best dtype; empty if it did. */
  readonly dtypeReason: string;
  /** Whether it was stored on a device that computes in fp16, so that `auto` could choose that. */
  readonly hadFloat16: boolean;
  readonly packed: PackedLayout & { readonly formatVersion: number };
  /** The packed file's `digestOf`. */
  readonly weightsDigest: string;
}

/** `texts.json`: everything but the weights that a model needs to run. */
export type ModelTexts = Pick<Checkpoint, 'config' | 'generationConfig' | 'tokenizer' | 'tokenizerConfig'>;

/** Fills the file of weights. */
export type WriteWeights = (file: SyncFile) => Promise<unknown>;

const MANIFEST = 'model.json';
const TEXTS = 'texts.json';
const WEIGHTS = 'weights.bin';

interface Place {
  readonly folder: FileSystemDirectoryHandle;
  /** Deletes a damaged model. */
  readonly remove: () => Promise<void>;
}

/** A model that can be run from its folder. */
export class ModelFolder {
  readonly key: string;
  readonly manifest: ModelManifest;
  readonly #place: Place;

  private constructor(place: Place, manifest: ModelManifest) {
    this.key = place.folder.name;
    this.manifest = manifest;
    this.#place = place;
  }

  /** Undefined for a folder that is incomplete or of another version. */
  static async read(place: Place): Promise<ModelFolder | undefined> {
    const { folder } = place;
    const manifest = await readJsonFile(folder, MANIFEST);
    const weights = await ifFound(folder.getFileHandle(WEIGHTS));
    if (!weights || !isManifest(manifest)) return undefined;
    const { size } = await weights.getFile();
    return size >= manifest.packed.size ? new ModelFolder(place, manifest) : undefined;
  }

  static async write(
    place: Place,
    facts: Omit<ModelManifest, 'weightsDigest'>,
    texts: ModelTexts,
    write: WriteWeights,
  ): Promise<ModelFolder> {
    const { folder } = place;
    const manifest = { ...facts, weightsDigest: await writeWeights(folder, facts.packed.size, write) };
    await writeJsonFile(folder, TEXTS, texts);
    await writeJsonFile(folder, MANIFEST, manifest);
    return new ModelFolder(place, manifest);
  }

  /** @throws ModelFileCorruptError for a damaged copy, which is deleted. */
  async readTexts(): Promise<ModelTexts> {
    const texts = await readJsonFile(this.#place.folder, TEXTS);
    if (!isTexts(texts)) throw await this.#damaged('its configuration cannot be read');
    return texts;
  }

  /**
   * Opens the weights after it has checked them. They can be open only once at a time; the caller closes them.
   *
   * @throws ModelFileCorruptError for a damaged copy, which is deleted.
   */
  async openWeights(): Promise<SyncFile> {
    const { packed, weightsDigest } = this.manifest;
    const file = await openSyncFile(this.#place.folder, WEIGHTS);
    let isWhole = false;
    try {
      isWhole = (await digestOf(file, packed.size)) === weightsDigest;
    } finally {
      if (!isWhole) file.close();
    }
    if (!isWhole) throw await this.#damaged('its weights are not what was stored');
    return file;
  }

  async #damaged(detail: string): Promise<ModelFileCorruptError> {
    await this.#place.remove();
    return ModelFileCorruptError.ofStored(this.manifest.id, detail);
  }
}

/** @returns The file's `digestOf`. */
async function writeWeights(
  folder: FileSystemDirectoryHandle,
  size: number,
  write: WriteWeights,
): Promise<string> {
  const file = await openSyncFile(folder, WEIGHTS);
  try {
    await write(file);
    file.flush();
    return await digestOf(file, size);
  } finally {
    file.close();
  }
}

/** The rest was written by the same version. */
function isManifest(value: unknown): value is ModelManifest {
  const packed = isRecord(value) ? value['packed'] : undefined;
  return isRecord(packed) && packed['formatVersion'] === PACKED_FORMAT_VERSION;
}

/** The file is written at once, so it is whole if it is JSON. */
function isTexts(value: unknown): value is ModelTexts {
  return isRecord(value) && 'config' in value && 'tokenizer' in value;
}
