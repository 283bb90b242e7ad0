/// <reference lib="esnext.disposable" preserve="true" />
import type { GenericSchema } from 'valibot';
import { ClosedError, InvalidOptionError } from '../batching/base/errors.ts';
import type { Optional } from '../batching/base/records.ts';
import { isBoolean, oneOf } from '../batching/base/validate.ts';
import type { AnyDeployment, DeploymentTypes } from '../protocol/deployment.ts';
import type { ChatMessage, Prompt, TokenizeChatOptions } from '../protocol/chat.ts';
import type { FoundModel } from '../protocol/found-model.ts';
import type { GgufFile } from '../protocol/gguf-file.ts';
import { createClientId, type ClientId, type RequestId } from '../protocol/ids.ts';
import {
  EMBEDDED_MODEL,
  modelNameOf,
  type Detokenization,
  type DtypeChoice,
  type PrecisionPlan,
  type StoredModel,
  type SuggestedModel,
  type Tokenization,
} from '../protocol/models.ts';
import { LoadCancelledError } from '../protocol/errors/hub.ts';
import type { GenerationOptions } from '../protocol/generation.ts';
import { BACKEND_CHOICES, type BackendChoice } from '../protocol/ladder.ts';
import {
  batchKnobs,
  policy,
  type BatchingPolicy,
  type BatchKnobs,
  type TabserveStatus,
} from '../protocol/status.ts';
import type { BatchRecord, StepBatch } from '../protocol/stats.ts';
import type { RequestActivity, RequestTurn } from '../protocol/requests.ts';
import type { WorkerLog } from '../protocol/worker-log.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { OverrideHeldError } from '../protocol/errors/tabs.ts';
import { NoBrowserError } from '../protocol/errors/worker.ts';
import { checkAppName } from '../protocol/names.ts';
import { fromWireError } from '../protocol/wire-errors.ts';
import { checkedOptions } from './base/refusals.ts';
import { tellOne } from './base/listeners.ts';
import { Calls, type Ask } from './links/calls.ts';
import { leftWorker } from './links/left-worker.ts';
import { Connection } from './connection.ts';
import { DeploymentResponse, GenerationResponse } from './responses.ts';
import type {
  DeploymentHandle,
  DeploymentMap,
  EmbedderHandle,
  RequestOptions,
  RerankerHandle,
  TextGeneratorHandle,
} from './handles.ts';
import type { CheckOptions, CheckReport } from './check/types.ts';
import type { Link, OpenLink } from './links/link.ts';
import type { WorkerSource } from './links/worker-host.ts';
import { openLink } from './links/open-link.ts';
import {
  checkDtype,
  keepStored,
  toFirstModels,
  toModelSource,
  toRepository,
  toSearch,
  type LoadModelOptions,
  type ModelReference,
  type PlanModelOptions,
} from './model-source.ts';
import { JobsOnDemand } from './jobs/jobs-on-demand.ts';
import type { Jobs } from './jobs/types.ts';
import { OutstandingRequests } from './outstanding-requests.ts';
import { bridgeOfPage, hubOfPage, serverOfPage } from './page-settings.ts';
import { KnobOverride, type PolicyOverride } from './knob-override.ts';
import { Topics, type TopicListener, type TopicValues } from './topics.ts';

/** How a tab joins its app. */
export interface ConnectOptions {
  /**
   * Makes the app's worker, whose script calls `startWorker`. Only the leading tab calls it, and again when a worker has failed:
   * `() => new Worker(new URL('./my-worker.js', import.meta.url), { type: 'module' })`.
   */
  readonly worker: () => Worker;
  /**
   * The app's name among those of its origin: 1 to 32 letters, digits, hyphens or underscores. Tabs of the same name share one
   * worker and its stored models. Apps with different names, or without one, never meet.
   */
  readonly name?: string | undefined;
  /**
   * Where to run. `auto`, the default, takes the server of the bridge's `--upstream`, else WebGPU, else WASM. The leading tab decides
   * for all tabs.
   */
  readonly backend?: BackendChoice | undefined;
  /**
   * The model that the app begins with. It is an ID of the hub, such as `HuggingFaceTB/SmolLM2-135M-Instruct`, which is downloaded
   * once and then loaded from this device; or the address of a folder in the hub's layout, relative to the page, which begins with
   * `/`, `./`, `../`, `http:` or `https:`; or a GGUF file, a folder or the files of one that the user has picked, which are converted
   * once and then loaded from this device; or `storyteller`, the small model of the package, which is the default. With `null` no
   * model serves until `loadModel`, only the app's own deployments. The leading tab decides for all tabs.
   */
  readonly model?: ModelReference | null | undefined;
  /**
   * A model that makes vectors of texts beside it, named in the same way. The memory of all models is planned before the first is
   * loaded: if they don't fit together, the start fails with `MODEL_TOO_LARGE`.
   */
  readonly embedder?: ModelReference | undefined;
  /** A model that ranks texts, beside the others. */
  readonly reranker?: ModelReference | undefined;
  /** The precision of that model's weights. `auto`, the default, takes the best one that the device has and that fits. */
  readonly dtype?: DtypeChoice | undefined;
  /** Origin of the hub that `model` and `loadModel` use. If left out, the bridge's hub, else huggingface.co. */
  readonly hub?: string | undefined;
  /**
   * Whether this tab may lead, which means to run the worker; true by default. With false, as for the popup of an extension, it only
   * follows: while no other tab leads, its requests wait, in state `loading`, and `status().waitReason` says so.
   */
  readonly canLead?: boolean | undefined;
  /** Left out: see `ServerOptions`. */
  readonly server?: undefined;
}

/** How to ask a server instead of a model in the tab. */
export interface ServerOptions {
  /**
   * The address of an OpenAI-compatible server, with or without `/v1` at its end: vLLM, Ray Serve LLM, llama.cpp, another Tabserve. A
   * page needs its leave, if it is of another origin (CORS).
   */
  readonly server: string;
  /** The server's name of the model that generates. Left out, the first that it names. */
  readonly model?: string | undefined;
  /** The server's name of the model that makes vectors of texts. Left out, the one that generates. */
  readonly embedder?: string | undefined;
  /** The server's name of the model that ranks texts. Left out, the one that generates. */
  readonly reranker?: string | undefined;
  /** The key that is sent to the server. Whoever opens the page can read it, so keep one for many users behind a server of yours. */
  readonly apiKey?: string | undefined;
}

/**
 * Joins the tabs of this app. One of them runs the worker and its model for all. Resolves at once, in state `loading`:
 * requests that are submitted before `ready()` wait. When the leading tab is lost, another one takes over and continues every
 * request.
 *
 * With `{ server }` the same client asks an OpenAI-compatible server, each tab for itself, and in Node too.
 *
 * With the type of the worker's deployments, `getHandle` knows their inputs and answers: `connect<typeof deployments>({ … })`.
 *
 * @param options How this tab joins. All tabs of an app give the same `name`.
 * @returns The client of this tab.
 * @throws InvalidOptionError for a `name` of other characters or of too many, and for a `model`, `dtype` or `hub` that can't be;
 *   UnknownOptionError for an option that there isn't. What a `server`'s options lack, `ready()` says.
 * @throws NoBrowserError outside of a page, unless with a `server`.
 * @throws CannotFollowError for `canLead: false` where the browser shares no worker between tabs.
 */
export async function connect<const Deployments extends readonly AnyDeployment[] = readonly []>(
  options: ConnectOptions | ServerOptions,
): Promise<TabserveClient<DeploymentTypes<Deployments>>> {
  const given: Partial<ConnectOptions> | ServerOptions = checkedOptions(options);
  const way = await (given.server === undefined ? wayToWorker(given) : wayToServer(given));
  const client = new TabserveClient<DeploymentTypes<Deployments>>(...way);
  logFailures(client);
  return client;
}

type Way = ConstructorParameters<typeof TabserveClient>;

/** The link's code comes on demand: apps without a server don't need it. */
function wayToServer(options: ServerOptions, shownUrl?: string): Way {
  // An app may await `connect` where its first script begins, on which this code depends: so it isn't waited for here.
  const open: OpenLink = (listener) => {
    let link: Link | undefined;
    const opening = import('./links/server/server-link.ts')
      .then(({ openServerLink }) => (link = openServerLink({ ...options, shownUrl }, listener)))
      .catch((error: Error) => listener.onFailure(error));
    return {
      isolationReason: '',
      post: (message) => link?.post(message),
      close: () => void opening.then(() => link?.close()),
    };
  };
  return [createClientId(), open];
}

const OPTIONS = [
  'worker',
  'name',
  'backend',
  'model',
  'embedder',
  'reranker',
  'dtype',
  'hub',
  'canLead',
] as const satisfies readonly (keyof ConnectOptions)[];

async function wayToWorker(options: Partial<ConnectOptions>): Promise<Way> {
  const {
    worker: createWorker,
    name: app,
    backend = 'auto',
    model = EMBEDDED_MODEL,
    dtype = 'auto',
    canLead = true,
    embedder,
    reranker,
    hub: givenHub,
  } = checkedOptions(options, OPTIONS);
  if (typeof createWorker !== 'function')
    throw InvalidOptionError.of(
      'worker',
      'a function that makes a worker for connect(), unless there is a `server`',
      createWorker,
    );
  if (!('document' in globalThis && 'Worker' in globalThis)) throw NoBrowserError.of();
  if (app !== undefined) checkAppName(app);
  oneOf(...BACKEND_CHOICES)('backend', backend);
  isBoolean('canLead', canLead);
  const server = backend === 'auto' && serverOfPage();
  if (server) return wayToServer({ server: '/', model: server.dataset['model'] }, server.content);
  const hub = givenHub ?? hubOfPage();
  const { first, encoders } = await toFirstModels({ model, dtype, embedder, reranker }, hub);
  const clientId = createClientId();
  const bridgeUrl = bridgeOfPage();
  const host = {
    createWorker,
    backend,
    model: first,
    dtype,
    ...(encoders.length > 0 && { encoders }),
    ...(app !== undefined && { app }),
    ...(bridgeUrl !== undefined && { bridgeUrl }),
  };
  const open: OpenLink = (listener) => openLink({ clientId, host, canLead }, listener);
  return [clientId, open, hub, canLead ? host : undefined];
}

/** A page that shows no state would fail in silence. Each cause is logged once. */
function logFailures(client: Pick<TabserveClient, 'subscribe'>): void {
  const logged = new Set<string>();
  client.subscribe('status', ({ state, error }) => {
    if (state !== 'failed' || !error || logged.has(error.message)) return;
    logged.add(error.message);
    console.error(`Tabserve has failed. ${error.code}: ${error.message}`);
  });
}

/** Sends requests to the worker, in whichever tab it runs, and returns its answers. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no deployment types are known
export class TabserveClient<Deployments extends DeploymentMap = DeploymentTypes<readonly []>> {
  readonly #hub: string | undefined;
  readonly #source: WorkerSource | undefined;
  readonly #topics: Topics;
  readonly #connection: Connection;
  readonly #requests: OutstandingRequests;
  readonly #calls: Calls;
  readonly #jobs: JobsOnDemand;
  /** Set while picked files are read. */
  #reading: Promise<unknown> | undefined;

  /**
   * @internal
   * @param hub Origin of the hub that `loadModel` uses by default; huggingface.co if left out.
   * @param source How this tab makes workers, for `check`. Left out where it may make none.
   */
  constructor(clientId: ClientId, open: OpenLink, hub?: string, source?: WorkerSource) {
    this.#hub = hub;
    this.#source = source;
    this.#topics = new Topics(clientId);
    const isWaiting = (): boolean => this.#requests.size + this.#calls.size > 0;
    this.#connection = new Connection(clientId, open, this.#topics, {
      get isWaiting() {
        return isWaiting();
      },
      onWelcome: ({ activity }) => this.#begin(activity),
      onMessage: (message) => this.#receive(message),
      onEnd: (reason) => {
        this.#requests.settleAll(reason);
        this.#calls.refuseAll(reason);
        this.#jobs.end(reason);
      },
    });
    this.#requests = new OutstandingRequests(this.#connection, this.#topics);
    this.#calls = new Calls(this.#connection, () => leftWorker(source?.app));
    this.#jobs = new JobsOnDemand(
      (request) => this.#calls.ask(request),
      () => this.status(),
    );
  }

  /** Prompts over the rows of a file, which survive the end of every tab. */
  get jobs(): Jobs {
    return this.#jobs;
  }

  /**
   * Continues a prompt: iterate the response for chunks as they come, or await it for the result.
   *
   * Never throws: an error rejects the response, and names the wrong option or part of the prompt.
   */
  generate(prompt: Prompt, options?: GenerationOptions & RequestOptions): GenerationResponse {
    return this.getHandle('text-generator').remote(prompt, options);
  }

  /** Answers a chat, through the model's own chat template. As `generate` otherwise. */
  chat(messages: readonly ChatMessage[], options?: GenerationOptions & RequestOptions): GenerationResponse {
    return this.generate(messages, options);
  }

  /**
   * How to call the text generator, which every worker has.
   *
   * @param turn The HTTP client that this client asks for, and its place in the queue. The worker accepts them only from the bridge.
   */
  getHandle(name: 'text-generator', turn?: RequestTurn): TextGeneratorHandle;
  /** How to call a deployment of `connect<typeof deployments>`, with the types of its input and answer. */
  getHandle<Name extends keyof Deployments & string>(
    name: Name,
    turn?: RequestTurn,
  ): DeploymentHandle<Deployments[Name]['input'], Deployments[Name]['output']>;
  /** How to make vectors of texts. Requests fail with `NO_ENCODER` until `loadModel` has loaded an embedding model. */
  getHandle(name: 'embedder', turn?: RequestTurn): EmbedderHandle;
  /** How to rank documents. Requests fail with `NO_ENCODER` until `loadModel` has loaded a cross-encoder. */
  getHandle(name: 'reranker', turn?: RequestTurn): RerankerHandle;
  /** A deployment of your own. Requests fail with `UNKNOWN_DEPLOYMENT` if the worker has none of that name. */
  getHandle<Input, Output>(name: string, turn?: RequestTurn): DeploymentHandle<Input, Output>;
  getHandle(
    name: string,
    turn?: RequestTurn,
  ): TextGeneratorHandle | EmbedderHandle | RerankerHandle | DeploymentHandle<unknown, unknown> {
    return name === 'text-generator'
      ? this.#requests.createHandle(GenerationResponse, name, turn)
      : this.#requests.createHandle(DeploymentResponse<unknown>, name, turn);
  }

  /**
   * Turns knobs of the text generator for all tabs. They take effect at its next step or, while an override is held, after its end.
   *
   * @param knobs Knobs that are left out keep their value.
   * @returns All knobs.
   * @throws InvalidOptionError or UnknownOptionError; then nothing changes.
   */
  configure(name: 'text-generator', knobs: Optional<BatchingPolicy>): Promise<BatchingPolicy>;
  /**
   * Turns knobs of another deployment for all tabs. They take effect at its next batch.
   *
   * @param knobs Knobs that are left out keep their value.
   * @returns All knobs.
   * @throws InvalidOptionError, UnknownOptionError or UnknownDeploymentError; then nothing changes.
   */
  configure(name: string, knobs: Optional<BatchKnobs>): Promise<BatchKnobs>;
  configure(name: string, knobs: object): Promise<BatchingPolicy | BatchKnobs> {
    return this.#calls.ask({ type: 'configure', deployment: name, knobs });
  }

  /**
   * Sets a temporary policy of the text generator for all tabs. It ends with this tab at the latest. Knobs that are left out
   * keep their value; `configure` changes the users' own policy meanwhile.
   *
   * @throws OverrideHeldError while any tab holds an override.
   * @throws InvalidOptionError or UnknownOptionError; then nothing changes.
   */
  overridePolicy(knobs: Optional<BatchingPolicy> = {}): Promise<PolicyOverride> {
    return this.#override('text-generator', policy, knobs);
  }

  /**
   * As `overridePolicy`, for the knobs of another deployment.
   *
   * @throws OverrideHeldError while any tab holds an override, of whatever deployment.
   * @throws InvalidOptionError, UnknownOptionError or UnknownDeploymentError; then nothing changes.
   */
  overrideKnobs(name: string, knobs: Optional<BatchKnobs> = {}): Promise<KnobOverride<BatchKnobs>> {
    return this.#override(name, batchKnobs, knobs);
  }

  /**
   * The last 200 steps of the text generator's engine, oldest first, with requests of all tabs. They may be 100 ms late. A
   * server tells none.
   */
  batches(name: 'text-generator'): readonly StepBatch[];
  /** The last 200 batches of another deployment, oldest first, with requests of all tabs. */
  batches(name: string): readonly BatchRecord[];
  batches(name: string): readonly (BatchRecord | StepBatch)[] {
    return this.#topics.batchLog.of(name);
  }

  /**
   * Loads another model for all tabs. A model that makes vectors of texts, or ranks them, serves beside the one that generates: see
   * `status().encoders`. Any other replaces the current one, which serves until the new one is ready. A model of the hub is downloaded once and
   * stored: the next time it loads from this device, without the network. If the load fails, the current model keeps serving.
   *
   * @param model An ID of the hub, `storyteller` for the embedded model, the address of a folder, or a folder's files.
   * @param options The precision, whether running requests finish or start again, and who gets the progress.
   * @returns The status, once the new model serves.
   * @throws InvalidOptionError, ModelNotFoundError, ModelAccessError, HubUnreachableError, HubUnavailableError, HubRateLimitError,
   *   HubAnswerError, HubRedirectError, ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError, UnsupportedDtypeError, ModelTooLargeError,
   *   StorageQuotaError, ModelStoreError or LoadCancelledError.
   * @throws LoadAbandonedError once two workers were lost while they loaded it.
   */
  async loadModel(model: ModelReference, options: LoadModelOptions = {}): Promise<TabserveStatus> {
    const {
      dtype = 'auto',
      whenBusy = 'finish',
      file,
      revision,
      hub,
      deployment,
      isTemporary,
      signal,
      onProgress,
    } = checkedOptions(options, [
      'dtype',
      'whenBusy',
      'file',
      'revision',
      'hub',
      'deployment',
      'isTemporary',
      'signal',
      'onProgress',
    ]);
    checkDtype(dtype);
    const given = this.#inTurn(toModelSource(model, { file, revision, hub }, this.#hub));
    const source = given instanceof Promise ? await given : given;
    const modelName = modelNameOf(source);
    if (signal?.aborted) throw LoadCancelledError.byCaller(modelName, signal.reason);
    keepStored();
    // Another load may run before this one.
    const unsubscribe = this.subscribe('status', ({ load }) => load?.id === modelName && onProgress?.(load));
    try {
      const asked = {
        source,
        dtype,
        whenBusy,
        ...(deployment !== undefined && { deployment }),
        ...(isTemporary && { isTemporary }),
      };
      await this.#calls.ask({ type: 'load-model', ...asked }, signal);
      return this.status();
    } catch (error) {
      const isByCaller = signal?.aborted && error === signal.reason;
      throw isByCaller ? LoadCancelledError.byCaller(modelName, signal.reason) : error;
    } finally {
      unsubscribe();
    }
  }

  /**
   * Frees the memory of a model, for all tabs, once its requests have ended. The next request, such as a prompt, a text to embed or the row of
   * a job, loads it again and waits for that; so does a tab that takes over.
   *
   * @param model Its deployment or its ID. By default `text-generator`, so that encoders stay.
   * @throws InvalidOptionError for a name that neither a deployment with a model nor a loaded model has.
   */
  async ejectModel(model?: string): Promise<void> {
    await this.#askInTurn({ type: 'eject-model', ...(model !== undefined && { model }) });
  }

  /**
   * Ends this tab's temporary models, and those of closed tabs: the model before them serves again, for all tabs, or none if there was none.
   * Does nothing if another one was loaded since, or while another tab wants the same temporary model.
   *
   * @throws As `loadModel`.
   */
  async restoreModel(): Promise<void> {
    await this.#askInTurn({ type: 'restore-model' });
  }

  /**
   * What a model would take on this device in each precision. Nothing is loaded, and of a model of the hub only the small files are
   * fetched.
   *
   * @throws As `loadModel`, for a model that can't be read or serves another deployment than the one asked for.
   */
  async planModel(model: ModelReference, options: PlanModelOptions = {}): Promise<readonly PrecisionPlan[]> {
    const { file, revision, hub, deployment } = checkedOptions(options, [
      'file',
      'revision',
      'hub',
      'deployment',
    ]);
    const source = await toModelSource(model, { file, revision, hub }, this.#hub);
    return this.#calls.ask({ type: 'plan-model', source, ...(deployment !== undefined && { deployment }) });
  }

  /** Pauses the download of the model that is being loaded, whichever tab started it. */
  pauseLoad(): void {
    this.#connection.post({ type: 'steer-load', action: 'pause' });
  }

  /** Goes on with a paused download. */
  resumeLoad(): void {
    this.#connection.post({ type: 'steer-load', action: 'resume' });
  }

  /**
   * Cancels the current load for all tabs, whichever started it: each `loadModel` that waits for it rejects with LoadCancelledError. The downloaded part is kept. Does
   * nothing while the model before a temporary one is loaded: see `load.isRestore`.
   */
  cancelLoad(): void {
    this.#connection.post({ type: 'steer-load', action: 'cancel' });
  }

  /** Models that are stored on this device, and downloads that are not complete yet. */
  storedModels(): Promise<readonly StoredModel[]> {
    return this.#calls.ask({ type: 'list-models' });
  }

  /** Small models of the hub that are known to run, with their needs on this device. */
  suggestedModels(): Promise<readonly SuggestedModel[]> {
    return this.#calls.ask({ type: 'suggest-models' });
  }

  /**
   * The GGUF files of a repository on the hub, of which `loadModel` takes one: none where it has none.
   *
   * @param id `owner/name`.
   * @throws InvalidOptionError, ModelNotFoundError, ModelAccessError, HubUnreachableError, HubUnavailableError, HubRateLimitError,
   *   HubAnswerError or HubRedirectError.
   */
  async ggufFiles(
    id: string,
    options: Pick<LoadModelOptions, 'revision' | 'hub'> = {},
  ): Promise<readonly GgufFile[]> {
    const { revision, hub } = checkedOptions(options, ['revision', 'hub']);
    return this.#calls.ask({ type: 'list-gguf-files', ...toRepository(id, { revision, hub }, this.#hub) });
  }

  /**
   * The models of the hub that match some words, the most downloaded first, and whether each fits on this device.
   *
   * @param query Words of their IDs.
   * @throws InvalidOptionError, HubUnreachableError, HubUnavailableError, HubRateLimitError, HubAnswerError or HubRedirectError.
   */
  async searchModels(
    query: string,
    options: Pick<LoadModelOptions, 'hub'> = {},
  ): Promise<readonly FoundModel[]> {
    const { hub = this.#hub } = checkedOptions(options, ['hub']);
    return this.#calls.ask({ type: 'search-models', ...toSearch(query, hub) });
  }

  /**
   * Deletes the stored files of a model. A model in use needs `force`: it then runs until its tab closes, and the next tab begins with the
   * app's first model.
   *
   * @param key As in `storedModels()`.
   * @throws ModelInUseError; InvalidOptionError for a key that no stored model has.
   */
  async deleteModel(key: string, options: { readonly force?: boolean | undefined } = {}): Promise<void> {
    const { force = false } = checkedOptions(options, ['force']);
    await this.#calls.ask({ type: 'delete-model', key, ...(force && { force }) });
  }

  /** All metrics of the worker in Prometheus' text format, with the names of vLLM and Ray Serve. */
  metrics(): Promise<string> {
    return this.#calls.ask({ type: 'metrics' });
  }

  /**
   * The last 1,000 requests that have ended, of all tabs, HTTP clients and jobs, and what the text generator did in each 10 seconds of the
   * last hour. Nothing is sent unless this is called. Another worker's log begins anew.
   *
   * @param cursor `cursor` of an earlier answer: this one then has only what came since, unless another worker serves.
   */
  workerLog(cursor = ''): Promise<WorkerLog> {
    return this.#calls.ask({ type: 'read-log', cursor });
  }

  /**
   * The text of each token by itself: '' for a special token, U+FFFD for a part of a character. Waits for the first model.
   *
   * @throws The reason why no model serves, as for a prompt.
   */
  tokenTexts(tokenIds: readonly number[]): Promise<readonly string[]> {
    return this.#calls.ask({ type: 'token-texts', tokenIds });
  }

  /**
   * A text as tokens of the current model. Waits for the first model. `addSpecialTokens`, true by default, adds those that the model
   * expects at the start of a prompt.
   *
   * @param options Whether to add special tokens.
   * @throws InvalidOptionError for a text of more than 131,072 characters.
   */
  async tokenize(
    text: string,
    options: { readonly addSpecialTokens?: boolean | undefined } = {},
  ): Promise<Tokenization> {
    const { addSpecialTokens = true } = checkedOptions(options, ['addSpecialTokens']);
    return this.#calls.ask({ type: 'tokenize', text, addSpecialTokens });
  }

  /**
   * A chat as tokens of the current model, rendered by its chat template. Waits for the first model.
   *
   * @throws NoChatTemplateError for a base model; ChatTemplateError for messages that the template refuses;
   *   InvalidOptionError for messages of more than 1,048,576 characters.
   */
  async tokenizeChat(
    messages: readonly ChatMessage[],
    options: TokenizeChatOptions = {},
  ): Promise<Tokenization> {
    const {
      continueFinalMessage = false,
      addGenerationPrompt = !continueFinalMessage,
      chatTemplateArguments = {},
      tools,
    } = checkedOptions(options, [
      'addGenerationPrompt',
      'continueFinalMessage',
      'chatTemplateArguments',
      'tools',
    ]);
    if (continueFinalMessage && addGenerationPrompt)
      throw InvalidOptionError.of('addGenerationPrompt', 'false beside continueFinalMessage', true);
    return this.#calls.ask({
      type: 'tokenize-chat',
      messages,
      addGenerationPrompt,
      ...(continueFinalMessage && { continueFinalMessage }),
      chatTemplateArguments,
      ...(tools !== undefined && { tools }),
    });
  }

  /**
   * Tokens of the current model as text, with special tokens spelled out. Waits for the first model.
   *
   * @throws InvalidOptionError for an ID outside its vocabulary.
   */
  detokenize(tokenIds: readonly number[]): Promise<Detokenization> {
    return this.#calls.ask({ type: 'detokenize', tokenIds });
  }

  /**
   * Checks this machine, in about a minute: whether texts are the same together as one by one, and after another worker has taken over;
   * whether shapes hold and values are right; and how fast it is. Texts of other tabs go on, and start first. The check's own workers load the
   * model again, where there is memory for that. It ends with its tab.
   *
   * @returns The report. A line that can't be run, or that was not done when `signal` aborted, says why.
   * @throws OverrideHeldError while a load test or another check runs in any tab.
   * @throws As `ready()`, while no model can run.
   */
  async check(options: CheckOptions = {}): Promise<CheckReport> {
    const loaded = await import('./check/check-machine.ts');
    const createClient = (clientId: ClientId, open: OpenLink) => new TabserveClient(clientId, open);
    return loaded.checkMachine({ serve: this, source: this.#source, createClient }, options);
  }

  /**
   * For `check`. Answers with a `DeviceCheck`.
   *
   * @internal
   */
  checkDevice(): Promise<unknown> {
    return this.#calls.ask({ type: 'check-device' });
  }

  /** The last status that the worker reported, as this tab sees it. */
  status(): TabserveStatus {
    return this.#connection.status;
  }

  /**
   * Resolves when the model can run.
   *
   * @throws The reason why it can't: any error of `loadModel`, NoWebGpuAdapterError, GpuWrongValuesError, WorkerNotLoadedError,
   *   WorkerFailedError, RuntimeFileError, WasmForbiddenError, VersionMismatchError, or ClosedError after `close()`.
   */
  ready(): Promise<TabserveStatus> {
    return new Promise((resolve, reject) => {
      const unsubscribe = this.subscribe('status', (status) => {
        if (status.state === 'loading' || status.state === 'warming-up') return;
        queueMicrotask(() => unsubscribe());
        if (status.state === 'ready') resolve(status);
        else reject(status.error ? fromWireError(status.error) : ClosedError.ofClient());
      });
    });
  }

  /**
   * Calls the listener with every new value, and with the current `status` at once. An error of the listener only reaches the
   * console.
   *
   * @returns A function that unsubscribes.
   * @throws InvalidOptionError for an unknown topic, and for a listener that is no function.
   */
  subscribe<Topic extends keyof TopicValues>(topic: Topic, listener: TopicListener<Topic>): () => void {
    const unsubscribe = this.#topics.subscribe(topic, listener);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not narrow Topic by topic
    if (topic === 'status') tellOne(listener as TopicListener<'status'>, this.status());
    return unsubscribe;
  }

  /** Cancels a request of this client. Does nothing if the request has ended. */
  cancel(requestId: RequestId): void {
    this.#requests.cancel(requestId);
  }

  /** Leaves the other tabs. Outstanding requests of this client reject with ClosedError. */
  close(): void {
    this.#connection.close();
  }

  /** As `close()`, at the end of a scope: `await using serve = await connect(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  async #override<Knobs extends BatchingPolicy | BatchKnobs>(
    name: string,
    schema: GenericSchema<unknown, Knobs>,
    knobs: Optional<Knobs>,
  ): Promise<KnobOverride<Knobs>> {
    if (this.#connection.override?.signal.aborted === false) throw OverrideHeldError.by('this');
    const override = new KnobOverride(name, schema, (call) => this.#calls.ask(call));
    this.#connection.override = override;
    try {
      await override.change(knobs);
      return override;
    } catch (error) {
      void override.release();
      throw error;
    }
  }

  /** Keeps the order of calls that change the model, though picked files are read before their call is sent. */
  #inTurn<Value>(value: Value | Promise<Value>): Value | Promise<Value> {
    const before = this.#reading;
    if (!before && !(value instanceof Promise)) return value;
    const turn = Promise.allSettled([before, value]).then(() => value);
    const reading = turn
      .catch(() => {})
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
    this.#reading = reading;
    return turn;
  }

  async #askInTurn(call: Parameters<Ask>[0]): Promise<void> {
    const turn = this.#inTurn(undefined);
    if (turn) await turn;
    await this.#calls.ask(call);
  }

  #begin(activity: readonly RequestActivity[]): void {
    this.#topics.publishActivity(activity, true);
    const resubmitted = this.#requests.resubmitAll();
    this.#calls.askAgain();
    this.#jobs.refresh();
    if (resubmitted.length > 0) this.#topics.publish('requests', resubmitted);
  }

  #receive(message: Exclude<WorkerMessage, { type: 'welcome' }>): void {
    switch (message.type) {
      case 'serving':
      case 'status':
        break;
      case 'stats':
        this.#topics.publishStats(message.stats);
        break;
      case 'updates':
        this.#requests.apply(message.updates);
        break;
      case 'batch':
        this.#topics.publishBatch(message.batch);
        break;
      case 'activity':
        this.#topics.publishActivity(message.activity, false);
        break;
      case 'jobs':
        this.#jobs.apply(message);
        break;
      case 'call-answered':
        this.#calls.take(message.callId)?.resolve(message.result);
        break;
      case 'call-refused':
        this.#calls.take(message.callId)?.reject(fromWireError(message.error));
        break;
      default:
        message satisfies never;
    }
  }
}
