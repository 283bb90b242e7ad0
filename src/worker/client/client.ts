import { ClosedError, InvalidOptionError, RequestCancelledError, textOf } from '../../batching/errors.ts';
import { systemClock } from '../../batching/clock.ts';
import { DEFAULT_POLICY } from '../../batching/generation/policy.ts';
import { DeploymentResponse } from './deployment-response.ts';
import { GenerationResponse } from './generation-response.ts';
import { BRIDGE_META } from '../protocol/bridge-names.ts';
import { hubOfPage } from './hub-of-page.ts';
import { createClientId, createRequestId } from '../protocol/ids.ts';
import { modelNameOf, toModelSource, type ModelReference, type SourceOptions } from './model-source.ts';
import { LoadCancelledError } from '../protocol/errors/hub.ts';
import { Outcome } from './outcome.ts';
import { PolicyOverride } from './policy-override.ts';
import { OutstandingRequest, type Response } from './outstanding.ts';
import {
  END_TYPES,
  PROTOCOL_VERSION,
  type BackendChoice,
  type BatchingPolicy,
  type BatchKnobs,
  type BatchRecord,
  type Caller,
  type ClientId,
  type Detokenization,
  type DtypeChoice,
  type GenerationOptions,
  type ModelLoad,
  type RequestActivity,
  type RequestId,
  type RequestUpdate,
  type ServeStats,
  type ServeStatus,
  type StepBatch,
  type StoredModel,
  type TabRole,
  type Tokenization,
  type TurnSigns,
  type WhenBusy,
  type WorkerId,
  type WorkerMessage,
  type WorkerStatus,
  TEXT_GENERATOR,
} from '../protocol/protocol.ts';
import { allowOwnScripts } from '../platform/own-scripts.ts';
import { randomSeed } from '../platform/random-seed.ts';
import { BatchLog } from '../logs/batch-log.ts';
import {
  LoadAbandonedError,
  OverrideEndedError,
  OverrideHeldError,
  VersionMismatchError,
} from '../protocol/errors/tabs.ts';
import { StepLog } from '../logs/step-log.ts';
import type { Link, LinkListener, OpenLink, Outgoing } from './links/link.ts';
import { openLink } from './links/open-link.ts';
import { MAX_NAME_LENGTH } from '../protocol/names.ts';
import { upstreamOfPage } from './page-upstream.ts';
import { fromWireError, toWireError } from '../protocol/wire-errors.ts';

export type { GenerationChunk, GenerationResponse } from './generation-response.ts';
export type { ModelReference } from './model-source.ts';
export type { PolicyOverride } from './policy-override.ts';

export interface ConnectOptions {
  /**
   * Where to run; `auto` by default: the upstream that the bridge was started with, else WebGPU, else WASM. The tab that leads
   * decides for all.
   */
  readonly backend?: BackendChoice;
  /** Folder of the model in the hub's layout; the embedded one by default. The tab that leads decides for all. */
  readonly modelUrl?: string;
}

interface Topics {
  readonly status: ServeStatus;
  readonly stats: ServeStats;
  /** Each batch of a deployment other than the text generator, when it has ended. */
  readonly batch: BatchRecord;
  /** What happens to the requests of this tab. */
  readonly requests: readonly RequestUpdate[];
  /** What happens to those of the other tabs. */
  readonly activity: Activity;
}

export interface Activity {
  /** All requests of other tabs that wait or run, or else only those that changed. */
  readonly isSnapshot: boolean;
  readonly requests: readonly RequestActivity[];
}

type Listener<Topic extends keyof Topics> = (value: Topics[Topic]) => void;

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request when it aborts. */
  readonly signal?: AbortSignal;
}

export interface LoadModelOptions extends SourceOptions {
  /** In which precision it runs; `auto` by default: the best that the device has and that fits. */
  readonly dtype?: DtypeChoice;
  /** What becomes of requests that run when it is ready; by default the model before it ends them. */
  readonly whenBusy?: WhenBusy;
  /** Ends the load when it aborts; what has come is kept. */
  readonly signal?: AbortSignal;
}

/** The deployment that continues prompts. */
export interface TextGeneratorHandle {
  /**
   * Submits a prompt. Never throws: what is wrong with it rejects the response.
   *
   * @param prompt Text, or the ids of its tokens. Non-empty; shorter than the model's context, in tokens, or as long where
   *   `maxNewTokens` is 0.
   */
  remote(
    prompt: string | readonly number[],
    options?: GenerationOptions & RequestOptions,
  ): GenerationResponse;
  /** Submits several prompts as one turn: all are accepted, or none. */
  remoteAll(
    prompts: readonly (string | readonly number[])[],
    options?: GenerationOptions & RequestOptions,
  ): readonly GenerationResponse[];
}

/** Any other deployment: one input, one answer, batched in between. */
export interface DeploymentHandle<Input, Output> {
  /** Submits an input. Never throws: what is wrong with it rejects the response. */
  remote(input: Input, options?: RequestOptions): DeploymentResponse<Output>;
  /** Submits several inputs as one turn: all are accepted, or none. */
  remoteAll(inputs: readonly Input[], options?: RequestOptions): readonly DeploymentResponse<Output>[];
}

/** Inputs and outputs of the deployments that come with the page. */
interface KnownDeployments {
  readonly adder: { readonly input: number; readonly output: number };
  /** Numbers in the order of the model's features; euros. */
  readonly 'house-price': { readonly input: readonly number[]; readonly output: number };
}

/** A message that the worker answers, without the id that pairs the two. */
type WorkerCall<Message = Outgoing> = Message extends { readonly callId: number }
  ? Omit<Message, 'callId'>
  : never;

type ResponseConstructor<Result, Made> = new (
  requestId: RequestId,
  outcome: Outcome<Result>,
  cancel: (reason: unknown) => void,
) => Made;

interface PendingCall extends PromiseWithResolvers<unknown> {
  readonly message: Outgoing;
  readonly signal: AbortSignal | undefined;
  /** Workers that were asked. */
  numWorkers: number;
}

/** A load that has cost so many their lives would cost the next one its own. */
const MAX_WORKERS_OF_LOAD = 2;

const INITIAL_STATUS: ServeStatus = {
  state: 'loading',
  role: 'follower',
  policy: DEFAULT_POLICY,
  deployments: [],
  numTabs: 0,
  isHandover: false,
  isolationReason: '',
};

/**
 * Joins the tabs of this site: one of them runs the worker and its model for all. Resolves at once, in state `loading`:
 * requests submitted before `ready()` wait. When the tab that leads is lost, another one takes over and every request
 * goes on where it was.
 */
export function connect({ backend = 'auto', modelUrl }: ConnectOptions = {}): Promise<Serve> {
  const folder = new URL(modelUrl ?? 'models/storyteller/', document.baseURI).href;
  const clientId = createClientId();
  const upstream = upstreamOfPage();
  const bridgeUrl = findBridge();
  const host = {
    createWorker,
    backend,
    modelUrl: folder.endsWith('/') ? folder : `${folder}/`,
    ...(upstream && { upstream }),
    ...(bridgeUrl !== undefined && { bridgeUrl }),
  };
  const open: OpenLink = (listener) => openLink({ clientId, host }, listener);
  return Promise.resolve(new Serve(clientId, open, hubOfPage()));
}

/** The bridge marks the page that it serves; one of any other server must not look for it. */
function findBridge(): string | undefined {
  const folder = document.querySelector<HTMLMetaElement>(`meta[name="${BRIDGE_META}"]`)?.content;
  return folder === undefined ? undefined : new URL(folder, document.baseURI).href;
}

function createWorker(): Worker {
  allowOwnScripts();
  return new Worker(new URL('../main.ts', import.meta.url), { type: 'module', name: 'tabserve' });
}

/** The tab's side: sends requests to the worker, wherever it runs, and hands what comes back to whoever asked. */
export class Serve implements LinkListener {
  readonly #link: Link;
  readonly #clientId: ClientId;
  readonly #hub: string | undefined;
  /** Requests that are not settled yet, in order of submission. */
  readonly #outstanding = new Map<RequestId, OutstandingRequest>();
  /** Calls to the worker itself that are not answered yet. */
  readonly #calls = new Map<number, PendingCall>();
  readonly #batchLog = new BatchLog();
  readonly #stepLog = new StepLog();
  readonly #listeners: { readonly [Topic in keyof Topics]: Set<Listener<Topic>> } = {
    status: new Set(),
    stats: new Set(),
    batch: new Set(),
    requests: new Set(),
    activity: new Set(),
  };
  #status: ServeStatus;
  #workerStatus: WorkerStatus | undefined;
  /** The worker that has welcomed this tab; what any other says is not for it. */
  #workerId: WorkerId | undefined;
  /** The last worker that this tab has said hello to. */
  #greetedWorkerId: WorkerId | undefined;
  #foreignVersion: number | undefined;
  /** The last temporary policy of this tab, which may have ended. */
  #override: PolicyOverride | undefined;
  #isOpen = false;
  #lastCallId = 0;
  /** Why nothing is answered any more; what is sent then is refused with it. */
  #end: Error | undefined;

  /** @param hub Origin of the hub that models are loaded from where a call names none; huggingface.co where left out. */
  constructor(clientId: ClientId, open: OpenLink, hub?: string) {
    this.#clientId = clientId;
    this.#hub = hub;
    this.#link = open(this);
    this.#status = { ...INITIAL_STATUS, isolationReason: this.#link.isolationReason };
  }

  /** @param caller Who asks through this client. The worker believes the bridge alone. */
  getHandle(name: 'text-generator', caller?: Caller): TextGeneratorHandle;
  getHandle<Name extends keyof KnownDeployments>(
    name: Name,
    caller?: Caller,
  ): DeploymentHandle<KnownDeployments[Name]['input'], KnownDeployments[Name]['output']>;
  /** A deployment of your own; the worker answers `UNKNOWN_DEPLOYMENT` where it has none of that name. */
  getHandle<Input, Output>(name: string, caller?: Caller): DeploymentHandle<Input, Output>;
  getHandle(name: string, caller?: Caller): TextGeneratorHandle | DeploymentHandle<unknown, unknown> {
    return name === 'text-generator'
      ? this.#handle(GenerationResponse, name, caller)
      : this.#handle(DeploymentResponse<unknown>, name, caller);
  }

  /**
   * Turns knobs of a deployment for its next batch or step, for all tabs; nothing that runs is disturbed. Resolves with
   * all knobs, which take effect after an override where one is held. Rejects with InvalidOptionError or UnknownOptionError,
   * and then changes nothing.
   */
  configure(name: 'text-generator', knobs: Partial<BatchingPolicy>): Promise<BatchingPolicy>;
  configure(name: string, knobs: Partial<BatchKnobs>): Promise<BatchKnobs>;
  configure(name: string, knobs: object): Promise<unknown> {
    return this.#call({ type: 'configure', deployment: name, knobs });
  }

  /**
   * Sets a temporary policy of the text generator for all tabs, which ends with this tab at the latest. Knobs that are left
   * out stay as they are in force; `configure` changes the users' own policy meanwhile. Rejects with OverrideHeldError where
   * any tab holds one, with InvalidOptionError or UnknownOptionError, and then changes nothing.
   */
  async overridePolicy(knobs: Partial<BatchingPolicy> = {}): Promise<PolicyOverride> {
    if (this.#override?.signal.aborted === false) throw OverrideHeldError.byThisTab();
    const override = new PolicyOverride((call) => this.#call(call));
    this.#override = override;
    try {
      await override.change(knobs);
      return override;
    } catch (error) {
      void override.release();
      throw error;
    }
  }

  /**
   * The last batches of a deployment (at most 200), oldest first, whichever tabs their requests came from. Those of the
   * text generator are the steps of its engine; they may be 100 ms late, and an upstream has none.
   */
  batches(name: 'text-generator'): readonly StepBatch[];
  batches(name: string): readonly BatchRecord[];
  batches(name: string): readonly (BatchRecord | StepBatch)[] {
    return name === 'text-generator' ? this.#stepLog.all : this.#batchLog.of(name);
  }

  /**
   * Loads another model, for all tabs; the one that serves goes on until it is ready. From the hub it is downloaded once and stored:
   * the next time it comes from this device, whether or not there is a network. Resolves when it serves.
   *
   * Rejects with InvalidOptionError, ModelNotFoundError, ModelAccessError, HubUnreachableError, HubUnavailableError,
   * HubRateLimitError, ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError, UnsupportedDtypeError,
   * ModelTooLargeError, StorageQuotaError, ModelStoreError, LoadCancelledError or, once two workers were lost under it,
   * LoadAbandonedError; then the model before it serves on.
   *
   * @param onProgress What every tab sees as `status().load`.
   */
  async loadModel(
    model: ModelReference,
    { dtype = 'auto', whenBusy = 'finish', signal, ...given }: LoadModelOptions = {},
    onProgress?: (load: ModelLoad) => void,
  ): Promise<ServeStatus> {
    const hub = given.hub ?? this.#hub;
    const source = await toModelSource(model, { ...given, ...(hub !== undefined && { hub }) });
    signal?.throwIfAborted();
    // In a page alone, and up to the browser: it may delete what it was not asked to keep.
    if ('storage' in navigator) void navigator.storage.persist();
    const unsubscribe = this.subscribe('status', ({ load }) => load && onProgress?.(load));
    const cancel = (): void => {
      this.steerLoad('cancel');
      // Without a worker nobody else answers; with one that is lost meanwhile, the next is not asked.
      if (this.#workerId === undefined) this.#dropRefused();
    };
    signal?.addEventListener('abort', cancel);
    try {
      await this.#call({ type: 'load-model', source, dtype, whenBusy }, signal);
      return this.#status;
    } finally {
      unsubscribe();
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Of the load that is under way, whichever tab has asked for it. */
  steerLoad(action: 'pause' | 'resume' | 'cancel'): void {
    if (this.#workerId !== undefined) this.#link.post({ type: 'steer-load', action });
  }

  /** What is stored on this device: models that load without the network, and downloads that are not whole yet. */
  async storedModels(): Promise<readonly StoredModel[]> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker's answer to this call
    return (await this.#call({ type: 'list-models' })) as readonly StoredModel[];
  }

  /** Deletes what is stored of a model; one that serves goes on until the page is opened anew. */
  async deleteModel(key: string): Promise<void> {
    await this.#call({ type: 'delete-model', key });
  }

  /** All metrics of the worker in Prometheus' text format. */
  async metrics(): Promise<string> {
    return String(await this.#call({ type: 'metrics' }));
  }

  /**
   * The text of each token by itself, in the model that serves: '' for a special one, U+FFFD for a part of a character. Waits for
   * the first model.
   */
  async tokenTexts(tokenIds: readonly number[]): Promise<readonly string[]> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker's answer to this call
    return (await this.#call({ type: 'token-texts', tokenIds })) as readonly string[];
  }

  /** A text as the model that serves reads it. Waits for the first model. */
  async tokenize(
    text: string,
    { addSpecialTokens = true }: { readonly addSpecialTokens?: boolean } = {},
  ): Promise<Tokenization> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker's answer to this call
    return (await this.#call({ type: 'tokenize', text, addSpecialTokens })) as Tokenization;
  }

  /**
   * The text of tokens in the model that serves; special tokens are spelled out. Waits for the first model. Rejects with
   * InvalidOptionError for an id that is outside of its vocabulary.
   */
  async detokenize(tokenIds: readonly number[]): Promise<Detokenization> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker's answer to this call
    return (await this.#call({ type: 'detokenize', tokenIds })) as Detokenization;
  }

  /** The last status that the worker reported, as this tab sees it. */
  status(): ServeStatus {
    return this.#status;
  }

  /** Resolves when the model can run; rejects with the reason why it cannot. */
  ready(): Promise<ServeStatus> {
    return new Promise((resolve, reject) => {
      const unsubscribe = this.subscribe('status', (status) => {
        if (status.state === 'loading' || status.state === 'warming-up') return;
        queueMicrotask(() => unsubscribe());
        if (status.state === 'ready') resolve(status);
        else reject(status.error ? fromWireError(status.error) : closedError());
      });
    });
  }

  /** Calls the listener with every new value (`status`: with the current one at once); returns its removal. */
  subscribe<Topic extends keyof Topics>(topic: Topic, listener: Listener<Topic>): () => void {
    this.#listeners[topic].add(listener);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not narrow Topic by topic
    if (topic === 'status') (listener as Listener<'status'>)(this.#status);
    return () => this.#listeners[topic].delete(listener);
  }

  /** Cancels a request of this client; one that has ended stays as it is. */
  cancel(requestId: RequestId): void {
    this.#cancel(requestId, undefined);
  }

  /** Leaves the other tabs to themselves; what is outstanding here rejects with ClosedError. */
  close(): void {
    if (this.#status.state === 'closed') return;
    this.#link.close();
    this.#endWith(closedError());
    this.#setStatus({ state: 'closed' });
  }

  onOpen(): void {
    this.#isOpen = true;
    this.#greet();
  }

  onInterrupted(): void {
    this.#isOpen = false;
    this.#workerId = undefined;
    this.#greetedWorkerId = undefined;
  }

  onPutAway(): void {
    void this.#override?.end(OverrideEndedError.byPutAway());
  }

  onRole(role: TabRole): void {
    const { error, ...status } = this.#status;
    const isStarting = role === 'leader' && (this.#workerId !== undefined || error !== undefined);
    this.#status = isStarting ? { ...status, role, state: 'loading' } : { ...this.#status, role };
    this.#setStatus({ isHandover: isStarting && this.#workerId !== undefined });
  }

  onForeignWorker(version: number): void {
    if (version === this.#foreignVersion || this.#status.state === 'closed') return;
    this.#foreignVersion = version;
    const error = VersionMismatchError.of(version, PROTOCOL_VERSION);
    // The older of the two has no future. The newer one waits: it leads once the last older tab is gone.
    if (version > PROTOCOL_VERSION) this.#endWith(error);
    this.#setStatus({ state: 'failed', error: toWireError(error) });
  }

  onFailure(error: Error): void {
    this.#endWith(error);
    this.#setStatus({ state: 'failed', error: toWireError(error) });
  }

  onMessage(message: WorkerMessage): void {
    if (this.#status.state === 'closed') return;
    if (message.type === 'welcome') {
      this.#join(message);
    } else if (message.workerId === this.#workerId) {
      this.#forgetForeignWorker();
      this.#receive(message);
    } else if (message.workerId !== this.#greetedWorkerId) {
      this.#greetedWorkerId = message.workerId;
      this.#greet();
    }
  }

  #handle<Result, Made extends Response>(
    ResponseClass: ResponseConstructor<Result, Made>,
    deployment: string,
    caller: Caller | undefined,
  ) {
    const signs: TurnSigns = caller ? { caller } : {};
    return {
      remote: (input: unknown, options?: RequestOptions): Made => {
        const [requestId, response] = this.#submit(ResponseClass, deployment, input, options, signs);
        this.#begin([requestId]);
        return response;
      },
      remoteAll: (inputs: readonly unknown[], options?: RequestOptions): readonly Made[] => {
        const turn = { ...signs, turnId: createRequestId() };
        const submitted = inputs.map((input) =>
          this.#submit(ResponseClass, deployment, input, options, turn),
        );
        this.#begin(submitted.map(([requestId]) => requestId));
        return submitted.map(([, response]) => response);
      },
    };
  }

  /** Makes a request that `#begin` sends, unless it is settled already. */
  #submit<Result, Made extends Response>(
    ResponseClass: ResponseConstructor<Result, Made>,
    deployment: string,
    input: unknown,
    given: RequestOptions | null | undefined,
    turn: TurnSigns,
  ): readonly [RequestId, Made] {
    const { signal, ...options } = given ?? {};
    const requestId = createRequestId();
    const outcome = new Outcome<Result>();
    const cancel = (reason: unknown): void => this.#cancel(requestId, reason);
    const response = new ResponseClass(requestId, outcome, cancel);
    const now = systemClock.now();
    // A seed of this tab's choice: whichever worker goes on with the request draws the same tokens.
    const seeded = deployment === TEXT_GENERATOR ? withSeed(options) : options;
    const submission = { requestId, deployment, input, options: seeded, turn };
    this.#outstanding.set(requestId, new OutstandingRequest(submission, response, now));
    this.#publish('requests', [{ type: 'submitted', requestId, deployment, input }]);
    const refusal = this.#end ?? nameRefusal(deployment);
    if (refusal) this.#settleLocally(requestId, refusal);
    else if (signal?.aborted) this.#settleLocally(requestId, RequestCancelledError.because(signal.reason));
    else if (signal) outcome.follow(signal, cancel);
    return [requestId, response];
  }

  /** Sends those of the requests that are outstanding to the worker that serves; without one they wait for the next. */
  #begin(requestIds: readonly RequestId[]): void {
    const requests = requestIds.flatMap((requestId) => this.#outstanding.get(requestId) ?? []);
    try {
      for (const request of requests) request.detach();
    } catch (error) {
      for (const requestId of requestIds) this.#settleLocally(requestId, cannotBeSent(error));
      return;
    }
    if (this.#workerId !== undefined) this.#send(requests);
  }

  /** Requests of one turn. */
  #send(requests: readonly OutstandingRequest[]): void {
    const message = OutstandingRequest.takeAll(requests, systemClock.now());
    if (message) this.#link.post(message);
  }

  #call(call: WorkerCall, signal?: AbortSignal): Promise<unknown> {
    const refusal = this.#end ?? ('deployment' in call ? nameRefusal(call.deployment) : undefined);
    if (refusal) return Promise.reject(refusal);
    const callId = ++this.#lastCallId;
    const resolvers = Promise.withResolvers<unknown>();
    try {
      const message: Outgoing = structuredClone({ ...call, callId });
      const pending: PendingCall = { ...resolvers, message, signal, numWorkers: 0 };
      if (this.#workerId !== undefined) this.#ask(pending);
      this.#calls.set(callId, pending);
    } catch (error) {
      resolvers.reject(cannotBeSent(error));
    }
    return resolvers.promise;
  }

  /** @throws DataCloneError. */
  #ask(call: PendingCall): void {
    this.#link.post(call.message);
    call.numWorkers += 1;
  }

  /** Of the calls that are not answered yet, those that no worker is to be asked any more. */
  #dropRefused(): void {
    for (const [callId, call] of this.#calls) {
      const refusal = refusalOf(call);
      if (refusal) this.#takeCall(callId)?.reject(refusal);
    }
  }

  #cancel(requestId: RequestId, reason: unknown): void {
    if (!this.#outstanding.has(requestId)) return;
    if (this.#workerId !== undefined) this.#link.post({ type: 'cancel', requestId });
    this.#settleLocally(requestId, RequestCancelledError.because(reason));
  }

  /** The tab decides at once; a result of the worker that is already on its way finds no response and is dropped. */
  #settleLocally(requestId: RequestId, error: Error): void {
    const update: RequestUpdate = { type: 'failed', requestId, error: toWireError(error) };
    this.#outstanding.get(requestId)?.response.apply(update, error);
    this.#outstanding.delete(requestId);
    this.#publish('requests', [update]);
  }

  #greet(): void {
    if (!this.#isOpen) return;
    const knobs = this.#workerStatus?.knobs;
    const override = this.#override?.held;
    this.#link.post({ type: 'hello', ...(knobs && { knobs }), ...(override && { override }) });
  }

  /** The worker of this tab lives, so no older one serves. After a newer one this is a dead one's last word. */
  #forgetForeignWorker(): void {
    if (this.#foreignVersion === undefined || this.#foreignVersion > PROTOCOL_VERSION) return;
    this.#foreignVersion = undefined;
    if (this.#workerStatus) this.#setWorkerStatus(this.#workerStatus, false);
  }

  /** A worker takes this tab in: all that is outstanding goes to it, with what the one before has done of it. */
  #join({
    workerId,
    status,
    activity,
    batches,
    steps = [],
  }: Extract<WorkerMessage, { type: 'welcome' }>): void {
    if (workerId === this.#workerId) return;
    const isHandover = this.#workerId !== undefined;
    this.#workerId = workerId;
    this.#foreignVersion = undefined;
    this.#end = undefined;
    for (const record of batches) this.#batchLog.add(record);
    this.#stepLog.add(steps);
    this.#setWorkerStatus(status, isHandover);
    this.#publishActivity(activity, true);
    this.#checkOverride(status);
    this.#resubmitAll();
  }

  /** A worker that took over may hold another tab's override instead. */
  #checkOverride({ override }: WorkerStatus): void {
    const held = this.#override?.held;
    if (held && held.overrideId !== override?.overrideId)
      void this.#override?.end(OverrideEndedError.byHandOver());
  }

  #resubmitAll(): void {
    const resubmitted: RequestUpdate[] = [];
    for (const [requestId, request] of this.#outstanding)
      if (request.isSent) resubmitted.push({ type: 'resubmitted', requestId });
    const turns = Map.groupBy(this.#outstanding, ([requestId, { turn }]) => turn.turnId ?? requestId);
    for (const requests of turns.values()) this.#send(requests.map(([, request]) => request));
    this.#dropRefused();
    for (const call of this.#calls.values()) this.#ask(call);
    if (resubmitted.length > 0) this.#publish('requests', resubmitted);
  }

  #receive(message: Exclude<WorkerMessage, { type: 'welcome' }>): void {
    switch (message.type) {
      case 'serving':
        break;
      case 'status':
        this.#setWorkerStatus(message.status, this.#status.isHandover);
        break;
      case 'stats':
        this.#stepLog.addRecords(message.stats.steps);
        this.#publish('stats', message.stats);
        break;
      case 'updates':
        this.#applyUpdates(message.updates);
        break;
      case 'batch':
        this.#batchLog.add(message.batch);
        this.#publish('batch', message.batch);
        break;
      case 'activity':
        this.#publishActivity(message.activity, false);
        break;
      case 'call-answered':
        this.#takeCall(message.callId)?.resolve(message.result);
        break;
      case 'call-refused':
        this.#takeCall(message.callId)?.reject(fromWireError(message.error));
        break;
      default:
        message satisfies never;
    }
  }

  #applyUpdates(updates: readonly RequestUpdate[]): void {
    const known = updates.filter(({ requestId }) => this.#outstanding.has(requestId));
    for (const update of known) {
      this.#outstanding.get(update.requestId)?.apply(update);
      if (END_TYPES.has(update.type)) this.#outstanding.delete(update.requestId);
    }
    if (known.length > 0) this.#publish('requests', known);
  }

  #publishActivity(activity: readonly RequestActivity[], isSnapshot: boolean): void {
    const requests = activity.filter(({ clientId }) => clientId !== this.#clientId);
    if (isSnapshot || requests.length > 0) this.#publish('activity', { isSnapshot, requests });
  }

  #takeCall(callId: number): PendingCall | undefined {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    return call;
  }

  #endWith(error: Error): void {
    this.#end = error;
    void this.#override?.end(error);
    for (const requestId of this.#outstanding.keys()) this.#settleLocally(requestId, error);
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }

  #setWorkerStatus(workerStatus: WorkerStatus, isHandover: boolean): void {
    this.#workerStatus = workerStatus;
    const { knobs, override, ...status } = workerStatus;
    const { role, isolationReason } = this.#status;
    const isStarting = status.state === 'loading' || status.state === 'warming-up';
    this.#status = {
      ...status,
      role,
      policy: override?.policy ?? knobs.policy,
      ...(override && {
        override: {
          isOwn: override.overrideId === this.#override?.overrideId,
          basePolicy: knobs.policy,
        },
      }),
      deployments: knobs.deployments,
      isHandover: isHandover && isStarting,
      isolationReason,
    };
    this.#publish('status', this.#status);
  }

  #setStatus(change: Partial<ServeStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#publish('status', this.#status);
  }

  #publish<Topic extends keyof Topics>(topic: Topic, value: Topics[Topic]): void {
    for (const listener of this.#listeners[topic]) {
      try {
        listener(value);
      } catch (error) {
        // A listener's fault is its own: it reaches the console, and nobody else.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** Why the next worker is not to be asked as well. */
function refusalOf({ message, signal, numWorkers }: PendingCall): Error | undefined {
  if (message.type !== 'load-model') return undefined;
  const modelName = modelNameOf(message.source);
  if (signal?.aborted) return LoadCancelledError.of(modelName, 'cancelled');
  return numWorkers < MAX_WORKERS_OF_LOAD ? undefined : LoadAbandonedError.of(modelName, numWorkers);
}

function withSeed(options: GenerationOptions): GenerationOptions {
  return { ...options, seed: options.seed ?? randomSeed() };
}

/** The worker's door drops a message with such a name, so that its caller would wait for ever. */
function nameRefusal(deployment: unknown): InvalidOptionError | undefined {
  if (typeof deployment === 'string' && deployment.length <= MAX_NAME_LENGTH) return undefined;
  const expected = `a deployment's name of at most ${MAX_NAME_LENGTH} characters`;
  return InvalidOptionError.of('name', expected, textOf(deployment).slice(0, MAX_NAME_LENGTH));
}

/** A function or a DOM node cannot be cloned to the worker. */
function cannotBeSent(error: unknown): InvalidOptionError {
  return new InvalidOptionError(`It cannot be sent to the worker: ${String(error)}. Pass plain data.`);
}

function closedError(): ClosedError {
  return new ClosedError('This client is closed: call connect() for a new one.');
}
