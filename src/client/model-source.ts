import { InvalidOptionError } from '../batching/errors.ts';
import type { DtypeChoice, ModelLoad, ModelSource, WhenBusy } from '../protocol/models.ts';
import { MAX_NAME_LENGTH } from '../protocol/wire.ts';

/** A model's ID on the hub, or its files: a folder that the user has picked, or its files. */
export type ModelReference = string | FileSystemDirectoryHandle | Iterable<File>;

export interface SourceOptions {
  /** A branch, a tag or a commit; `main` by default. */
  readonly revision?: string | undefined;
  /**
   * Origin of the hub. The page's Content-Security-Policy has to allow it. By default `?hub=` of the page's address, else the hub that the server was
   * started with, else `https://huggingface.co`.
   */
  readonly hub?: string | undefined;
}

/** Options of `loadModel`. */
export interface LoadModelOptions extends SourceOptions {
  /** The precision of the weights. `auto`, the default, takes the best one that the device has and that fits. */
  readonly dtype?: DtypeChoice | undefined;
  /** Whether running requests finish with the old model, which is the default, or start again with the new one. */
  readonly whenBusy?: WhenBusy | undefined;
  /** Cancels the load when it aborts: `loadModel` rejects with an AbortError. The downloaded part is kept. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the progress that every tab sees as `status().load`. */
  readonly onProgress?: ((load: ModelLoad) => void) | undefined;
}

const DEFAULT_HUB = 'https://huggingface.co';

/** The id of the embedded model. */
const EMBEDDED = 'storyteller';

/** An ID of the hub: `owner/name`, or the name alone. */
export const MODEL_ID = /^(?!\.)[\w.-]+(?:\/(?!\.)[\w.-]+)?$/;

/** @throws InvalidOptionError. */
export async function toModelSource(
  model: ModelReference,
  { revision = 'main', hub = DEFAULT_HUB }: SourceOptions,
): Promise<ModelSource> {
  if (model === EMBEDDED) return { type: 'embedded' };
  if (typeof model === 'string') {
    if (!MODEL_ID.test(model) || model.length > MAX_NAME_LENGTH) {
      throw InvalidOptionError.of('model', 'a Hugging Face model ID such as `openai-community/gpt2`', model);
    }
    return { type: 'hub', id: model, revision: requireName('revision', revision), hub: originOf(hub) };
  }
  if ('getFileHandle' in model) {
    return { type: 'files', name: model.name, files: await filesIn(model) };
  }
  const files = [...model];
  const [folder = ''] = files[0]?.webkitRelativePath.split('/') ?? [];
  return { type: 'files', name: folder || 'files', files };
}

function requireName(option: string, value: string): string {
  if (value !== '' && value.length <= MAX_NAME_LENGTH) return value;
  throw InvalidOptionError.of(option, `a name of at most ${MAX_NAME_LENGTH} characters`, value);
}

function originOf(hub: string): string {
  const { origin, protocol } = URL.canParse(hub) ? new URL(hub) : { origin: '', protocol: '' };
  if (protocol === 'https:' || protocol === 'http:') return requireName('hub', origin);
  throw InvalidOptionError.of('hub', 'the address of a hub such as `https://huggingface.co`', hub);
}

async function filesIn(folder: FileSystemDirectoryHandle): Promise<readonly File[]> {
  const files: File[] = [];
  for await (const entry of folder.values()) if (isFile(entry)) files.push(await entry.getFile());
  return files;
}

function isFile(entry: FileSystemHandle): entry is FileSystemFileHandle {
  return entry.kind === 'file';
}
