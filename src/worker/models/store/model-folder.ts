import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { DtypeChoice } from '../../../protocol/models.ts';
import { PACKED_FORMAT_VERSION, sectionsOf, type PackedLayout } from '../checkpoint/packed-weights.ts';
import type { WeightSource } from '../checkpoint/weight-source.ts';
import { ifFound, openSyncFile, readJsonFile, writeJsonFile } from './opfs.ts';
import type { SyncFile } from '../../../platform/sync-file.ts';
import { createSectionDigests } from './stored-digest.ts';
import { StoredWeights } from './stored-weights.ts';
import { storedModelCorrupt } from '../../../protocol/errors/model-messages.ts';

/** Where a stored model came from. */
export interface ModelOrigin {
  /** The hub's id, or the name of a local folder. */
  readonly id: string;
  /** Origin of the hub. Empty for picked files, like the revision. */
  readonly hub: string;
  /** As requested: a branch, a tag or a commit. */
  readonly revision: string;
  /** Tells contents of the same name apart: for picked files, their names, sizes and times. */
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
  /** One for each section of the packed file. */
  readonly digests: readonly string[];
}

/** `texts.json`: everything but the weights that a model needs to run. */
export type ModelTexts = Pick<Checkpoint, 'config' | 'generationConfig' | 'tokenizer' | 'tokenizerConfig'>;

/** The file of weights. The parts of each section are written in its order, once. */
export type StoredFile = Pick<SyncFile, 'truncate' | 'write'>;

/** Fills the file of weights. */
export type WriteWeights = (file: StoredFile) => Promise<unknown>;

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
    const [manifest, weights] = await Promise.all([
      readJsonFile(folder, MANIFEST),
      ifFound(folder.getFileHandle(WEIGHTS)),
    ]);
    if (!weights || !isManifest(manifest)) return undefined;
    const { size } = await weights.getFile();
    return size >= manifest.packed.size ? new ModelFolder(place, manifest) : undefined;
  }

  static async write(
    place: Place,
    facts: Omit<ModelManifest, 'digests'>,
    texts: ModelTexts,
    write: WriteWeights,
  ): Promise<ModelFolder> {
    const { folder } = place;
    const manifest = { ...facts, digests: await writeWeights(folder, facts.packed, write) };
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
   * Lends the weights, and compares what is read of them with what was stored. They can be open only once at a time.
   *
   * @param onRead Called with the bytes that were read.
   * @throws ModelFileCorruptError for a damaged copy, which is deleted; what `run` throws.
   */
  async withWeights<Result>(
    onRead: (numBytes: number) => void,
    run: (weights: WeightSource) => Promise<Result>,
  ): Promise<Result> {
    const { packed, digests } = this.manifest;
    const file = await openSyncFile(this.#place.folder, WEIGHTS);
    let isDamaged = false;
    const onDamage = (): void => {
      isDamaged = true;
    };
    try {
      return await run(new StoredWeights({ file, layout: packed, digests, onRead, onDamage }));
    } catch (error) {
      if (!isDamaged) throw error;
    } finally {
      file.close();
    }
    throw await this.#damaged('its weights are not what was stored');
  }

  async #damaged(detail: string): Promise<ModelFileCorruptError> {
    await this.#place.remove();
    return storedModelCorrupt(this.manifest.id, detail);
  }
}

/**
 * A flush is not needed: the system keeps what a crashed browser wrote, and the digests detect what a power failure lost.
 *
 * @returns The digests of the file's sections.
 */
async function writeWeights(
  folder: FileSystemDirectoryHandle,
  layout: PackedLayout,
  write: WriteWeights,
): Promise<readonly string[]> {
  const digests = await createSectionDigests(sectionsOf(layout));
  const file = await openSyncFile(folder, WEIGHTS);
  try {
    await write({
      truncate: (size) => file.truncate(size),
      write(bytes, options) {
        digests.add(bytes, options.at);
        return file.write(bytes, options);
      },
    });
    return digests.finish();
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
