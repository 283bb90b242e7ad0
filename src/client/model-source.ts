import { InvalidOptionError } from '../batching/base/errors.ts';
import {
  DTYPE_CHOICES,
  EMBEDDED_MODEL,
  type DtypeChoice,
  type FirstSource,
  type ModelLoad,
  type ModelSource,
  type WhenBusy,
} from '../protocol/models.ts';
import type { EncoderInit } from '../protocol/host-messages.ts';
import { MAX_NAME_LENGTH } from '../protocol/wire.ts';
import { localModelOfPage } from './page-settings.ts';

/**
 * A model's ID on the hub; `storyteller`, the embedded model; the address of a folder in the hub's layout, relative to the page,
 * which begins with `/`, `./`, `../`, `http:` or `https:`; or a GGUF file, a folder or the files of one that the user has picked.
 */
export type ModelReference = string | File | FileSystemDirectoryHandle | Iterable<File>;

/** Where a model is found. */
export interface SourceOptions {
  /** A GGUF file of the repository. `owner/name:Q4_K_M` names one by its type. */
  readonly file?: string | undefined;
  /** A branch, a tag or a commit; `main` by default. */
  readonly revision?: string | undefined;
  /**
   * Origin of the hub. The page's Content-Security-Policy has to allow it. By default `?hub=` of the page's address, else the hub that the server was
   * started with, else `https://huggingface.co`.
   */
  readonly hub?: string | undefined;
}

/** Options of `planModel`. */
export interface PlanModelOptions extends SourceOptions {
  /** Refuses a model that serves another deployment: `text-generator`, `embedder` or `reranker`. */
  readonly deployment?: string | undefined;
}

/** Options of `loadModel`. */
export interface LoadModelOptions extends PlanModelOptions {
  /** The precision of the weights. `auto`, the default, takes the best one that the device has and that fits. */
  readonly dtype?: DtypeChoice | undefined;
  /**
   * Serves until `restoreModel()`, or until this tab closes: then the model before it serves again. No start begins with it. For a
   * model that generates. Tabs that load the same one share it, until the last of them has left.
   */
  readonly isTemporary?: boolean | undefined;
  /** Whether running requests finish with the old model, which is the default, or start again with the new one. */
  readonly whenBusy?: WhenBusy | undefined;
  /**
   * When it aborts, `loadModel` rejects with an AbortError. The load goes on for other calls that wait for the same model, also of other tabs.
   * Without any it is cancelled, and the downloaded part is kept.
   */
  readonly signal?: AbortSignal | undefined;
  /** Gets the progress that every tab sees as `status().load`. */
  readonly onProgress?: ((load: ModelLoad) => void) | undefined;
}

const DEFAULT_HUB = 'https://huggingface.co';

const ADDRESS = /^(?:\.{0,2}\/|https?:\/\/)/i;

const ID = /^(?!\.)[\w.-]+(?:\/(?!\.)[\w.-]+)?(?::[\w.-]+)?$/;

interface FirstModels {
  readonly model: ModelReference | null;
  readonly dtype: string;
  readonly embedder: ModelReference | undefined;
  readonly reranker: ModelReference | undefined;
}

interface FirstSources {
  readonly first: FirstSource;
  readonly encoders: readonly EncoderInit[];
}

/**
 * At once for a name, so that calls are sent in order.
 *
 * @param options Those that the caller has given: a model that is not of the hub refuses them.
 * @param pageHub The hub for a model that comes from one, unless the options name another.
 * @throws InvalidOptionError.
 */
export function toModelSource(
  model: ModelReference,
  { file, revision, hub }: SourceOptions,
  pageHub?: string,
): ModelSource | Promise<ModelSource> {
  const ofHub = { file, revision, hub };
  const isPlain = Object.values(ofHub).every((value) => value === undefined);
  if (typeof model !== 'string' || !(isPlain || isOfHub(model)))
    return import('./picked-files.ts').then(({ toPickedSource }) => toPickedSource(model, ofHub));
  if (model === EMBEDDED_MODEL) return { type: 'embedded' };
  if (isAddress(model)) return { type: 'address', url: folderUrl(model) };
  const id = file === undefined ? model : `${model}:${requireName('file', file)}`;
  return { type: 'hub', ...toRepository(id, { revision, hub }, pageHub) };
}

function isOfHub(model: string): boolean {
  return model !== EMBEDDED_MODEL && !isAddress(model);
}

/**
 * The models that an app begins with.
 *
 * @throws InvalidOptionError.
 */
export async function toFirstModels(
  { model, dtype, embedder, reranker }: FirstModels,
  hub: string | undefined,
): Promise<FirstSources> {
  checkDtype(dtype);
  if (model === null && dtype !== 'auto')
    throw InvalidOptionError.of('dtype', 'left out without a model', dtype);
  if (hub !== undefined) originOf(hub);
  const first = await toFirstSource(model, hub);
  const encoders = await toEncoders({ embedder, reranker }, hub);
  const sources = [first, ...encoders.map(({ source }) => source)];
  if (sources.some(({ type }) => type === 'hub' || type === 'files')) keepStored();
  return { first, encoders };
}

/** @throws InvalidOptionError. */
export async function toFirstSource(
  model: ModelReference | null,
  hub: string | undefined,
): Promise<FirstSource> {
  return model === null ? { type: 'none' } : toModelSource(model, {}, hub);
}

/**
 * @param models By the deployments that they serve.
 * @throws InvalidOptionError.
 */
export async function toEncoders(
  models: Readonly<Record<string, ModelReference | undefined>>,
  hub: string | undefined,
): Promise<readonly EncoderInit[]> {
  const encoders: EncoderInit[] = [];
  for (const [deployment, model] of Object.entries(models))
    if (model !== undefined) encoders.push({ deployment, source: await toModelSource(model, {}, hub) });
  return encoders;
}

/** @throws InvalidOptionError. */
export function checkDtype(dtype: string): void {
  if (DTYPE_CHOICES.every((choice) => choice !== dtype))
    throw InvalidOptionError.of('dtype', `one of ${DTYPE_CHOICES.join(', ')}`, dtype);
}

/** Asks the browser not to evict stored models. The bridge runs in Node, which has no storage. */
export function keepStored(): void {
  if ('storage' in navigator) void navigator.storage.persist();
}

/** What is given counts more than what the page says of a model. @throws InvalidOptionError. */
export function toRepository(
  id: string,
  given: Pick<SourceOptions, 'revision' | 'hub'>,
  pageHub = DEFAULT_HUB,
) {
  if (!isModelId(id)) {
    throw InvalidOptionError.of(
      'model',
      'a Hugging Face model ID such as `openai-community/gpt2`, or the address of a folder, which begins with `/`, `./` or `https://`',
      id,
    );
  }
  const local = localModelOfPage(id);
  const { revision = local?.revision ?? 'main', hub = local?.hub ?? pageHub } = given;
  return { id, revision: requireName('revision', revision), hub: originOf(hub) };
}

/** @throws InvalidOptionError. */
export function toSearch(query: string, hub = DEFAULT_HUB) {
  return { query: requireName('query', query), hub: originOf(hub) };
}

/** Whether this can be an ID of the hub: `owner/name`, or the name alone; perhaps with a GGUF file, as in `owner/name:Q4_K_M`. */
export function isModelId(model: unknown): boolean {
  return typeof model === 'string' && ID.test(model) && model.length <= MAX_NAME_LENGTH;
}

/** Whether this names a folder, and not a model of the hub. An ID has neither a scheme nor a leading dot or slash. */
export function isAddress(model: string): boolean {
  return ADDRESS.test(model) && URL.canParse(model, document.baseURI);
}

/** @throws InvalidOptionError for a GGUF file: what is loaded from an address are the files of a folder, each by its name. */
function folderUrl(model: string): string {
  const { href, pathname } = new URL(model, document.baseURI);
  if (pathname.endsWith('.gguf'))
    throw InvalidOptionError.of(
      'model',
      "the address of a folder, or, for a GGUF file, the file itself: `new File([await (await fetch(address)).blob()], 'model.gguf')`",
      model,
    );
  return href.endsWith('/') ? href : `${href}/`;
}

function requireName(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH) return value;
  throw InvalidOptionError.of(option, `a name of at most ${MAX_NAME_LENGTH} characters`, value);
}

function originOf(hub: unknown): string {
  const { origin, protocol } =
    typeof hub === 'string' && URL.canParse(hub) ? new URL(hub) : { origin: '', protocol: '' };
  if (protocol === 'https:' || protocol === 'http:') return requireName('hub', origin);
  throw InvalidOptionError.of('hub', 'the address of a hub such as `https://huggingface.co`', hub);
}
