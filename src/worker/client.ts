import { ClosedError, InvalidOptionError, RequestCancelledError } from '../batching/errors.ts';
import { DEFAULT_POLICY } from '../batching/generation/policy.ts';
import { DeploymentResponse } from './deployment-response.ts';
import { GenerationResponse } from './generation-response.ts';
import { createClientId, createRequestId } from './ids.ts';
import { Outcome } from './outcome.ts';
import {
  PROTOCOL_VERSION,
  type BackendChoice,
  type BatchingPolicy,
  type BatchKnobs,
  type BatchRecord,
  type ClientMessage,
  type GenerationOptions,
  type RequestId,
  type RequestUpdate,
  type ServeStats,
  type ServeStatus,
  type Unversioned,
  type WorkerMessage,
} from './protocol.ts';
import { fromWireError, toWireError } from './wire-errors.ts';

export type { GenerationResponse } from './generation-response.ts';

export interface ConnectOptions {
  /** Where to run; `auto` by default: WebGPU, else WASM. */
  readonly backend?: BackendChoice;
  /** Folder of the model in the hub's layout; the embedded one by default. */
  readonly modelUrl?: string;
}

interface Topics {
  readonly status: ServeStatus;
  readonly stats: ServeStats;
  /** Each batch of a deployment other than the text generator, when it has ended. */
  readonly batch: BatchRecord;
  readonly requests: readonly RequestUpdate[];
}

type Listener<Topic extends keyof Topics> = (value: Topics[Topic]) => void;

/** What a worker is to its client: messages go in, messages come out. */
export interface Endpoint {
  postMessage(message: ClientMessage): void;
  addEventListener(type: 'message', listener: (event: { readonly data: WorkerMessage }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message: string }) => void): void;
  terminate(): void;
}

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request when it aborts. */
  readonly signal?: AbortSignal;
}

/** The deployment that continues prompts. */
export interface TextGeneratorHandle {
  /**
   * Submits a prompt. Never throws: what is wrong with it rejects the response.
   *
   * @param prompt Non-empty; shorter than the model's context, in tokens.
   */
  remote(prompt: string, options?: GenerationOptions & RequestOptions): GenerationResponse;
}

/** Any other deployment: one input, one answer, batched in between. */
export interface DeploymentHandle<Input, Output> {
  /** Submits an input. Never throws: what is wrong with it rejects the response. */
  remote(input: Input, options?: RequestOptions): DeploymentResponse<Output>;
}

/** Inputs and outputs of the deployments that come with the page. */
interface KnownDeployments {
  readonly adder: { readonly input: number; readonly output: number };
  /** Numbers in the order of the model's features; euros. */
  readonly 'house-price': { readonly input: readonly number[]; readonly output: number };
}

/** A message that the worker answers, without the id that pairs the two. */
type WorkerCall<Message = ClientMessage> = Message extends { readonly callId: number }
  ? Omit<Message, 'version' | 'callId'>
  : never;

const END_TYPES: ReadonlySet<RequestUpdate['type']> = new Set(['finished', 'answered', 'failed']);

const MAX_KEPT_BATCHES = 200;

interface Response {
  apply(update: RequestUpdate, error?: Error): void;
}

/**
 * Starts the worker and its model. Resolves at once, in state `loading`: requests submitted before `ready()` wait.
 */
export function connect({ backend = 'auto', modelUrl }: ConnectOptions = {}): Promise<Serve> {
  const worker = new Worker(new URL('./main.ts', import.meta.url), { type: 'module', name: 'tabserve' });
  const folder = new URL(modelUrl ?? 'models/storyteller/', document.baseURI).href;
  return Promise.resolve(
    new Serve(worker, { backend, modelUrl: folder.endsWith('/') ? folder : `${folder}/` }),
  );
}

/** The tab's side: sends requests to the worker and hands what comes back to whoever asked. */
export class Serve {
  readonly #endpoint: Endpoint;
  readonly #clientId = createClientId();
  /** Responses that are not settled yet. */
  readonly #responses = new Map<RequestId, Response>();
  /** Calls to the worker itself that are not answered yet. */
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  /** The last batches of each deployment, oldest first. */
  readonly #batches = new Map<string, BatchRecord[]>();
  readonly #listeners: { readonly [Topic in keyof Topics]: Set<Listener<Topic>> } = {
    status: new Set(),
    stats: new Set(),
    batch: new Set(),
    requests: new Set(),
  };
  #status: ServeStatus = { state: 'loading', role: 'leader', policy: DEFAULT_POLICY, deployments: [] };
  #lastCallId = 0;
  /** Why the worker can no longer answer; what is sent then is refused with it. */
  #end: Error | undefined;

  constructor(endpoint: Endpoint, init: { readonly backend: BackendChoice; readonly modelUrl: string }) {
    this.#endpoint = endpoint;
    endpoint.addEventListener('message', ({ data }) => this.#receive(data));
    endpoint.addEventListener('error', ({ message }) =>
      this.#crash(new Error(`The worker failed (${message}): reload the page.`)),
    );
    this.#post({ type: 'init', ...init });
  }

  getHandle(name: 'text-generator'): TextGeneratorHandle;
  getHandle<Name extends keyof KnownDeployments>(
    name: Name,
  ): DeploymentHandle<KnownDeployments[Name]['input'], KnownDeployments[Name]['output']>;
  /** A deployment of your own; the worker answers `UNKNOWN_DEPLOYMENT` where it has none of that name. */
  getHandle<Input, Output>(name: string): DeploymentHandle<Input, Output>;
  getHandle(name: string): TextGeneratorHandle | DeploymentHandle<unknown, unknown> {
    if (name === 'text-generator') {
      return {
        remote: (prompt: string, options?: GenerationOptions & RequestOptions) =>
          this.#submit(GenerationResponse, name, prompt, options),
      };
    }
    return {
      remote: (input: unknown, options?: RequestOptions) =>
        this.#submit(DeploymentResponse<unknown>, name, input, options),
    };
  }

  /**
   * Turns knobs of a deployment for its next batch or step; nothing that runs is disturbed. Resolves with all knobs.
   * Rejects with InvalidOptionError or UnknownOptionError, and then changes nothing.
   */
  configure(name: 'text-generator', knobs: Partial<BatchingPolicy>): Promise<BatchingPolicy>;
  configure(name: string, knobs: Partial<BatchKnobs>): Promise<BatchKnobs>;
  configure(name: string, knobs: object): Promise<unknown> {
    return this.#call({ type: 'configure', deployment: name, knobs });
  }

  /** The last batches of a deployment (at most 200), oldest first. */
  batches(name: string): readonly BatchRecord[] {
    return [...(this.#batches.get(name) ?? [])];
  }

  /** All metrics of the worker in Prometheus' text format. */
  async metrics(): Promise<string> {
    return String(await this.#call({ type: 'metrics' }));
  }

  /** The last status that the worker reported. */
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

  /** Ends the worker; what is outstanding rejects with ClosedError. */
  close(): void {
    if (this.#status.state === 'closed') return;
    this.#endpoint.terminate();
    this.#endWith(closedError());
    this.#setStatus({ ...this.#status, state: 'closed' });
  }

  #submit<Result, Made extends Response>(
    ResponseClass: new (id: RequestId, outcome: Outcome<Result>, cancel: (reason: unknown) => void) => Made,
    deployment: string,
    input: unknown,
    given: RequestOptions | null | undefined,
  ): Made {
    const { signal, ...options } = given ?? {};
    const requestId = createRequestId();
    const outcome = new Outcome<Result>();
    const cancel = (reason: unknown): void => this.#cancel(requestId, reason);
    const response = new ResponseClass(requestId, outcome, cancel);
    this.#responses.set(requestId, response);
    this.#publish('requests', [{ type: 'submitted', requestId, deployment, input }]);
    if (this.#end) {
      this.#settleLocally(requestId, this.#end);
    } else if (signal?.aborted) {
      this.#settleLocally(requestId, RequestCancelledError.because(signal.reason));
    } else {
      if (signal) outcome.follow(signal, cancel);
      this.#send(requestId, deployment, input, options);
    }
    return response;
  }

  #send(requestId: RequestId, deployment: string, input: unknown, options: object): void {
    try {
      this.#post({ type: 'submit', requestId, clientId: this.#clientId, deployment, input, options });
    } catch (error) {
      this.#settleLocally(requestId, cannotBeSent(error));
    }
  }

  #call(message: WorkerCall): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    const callId = ++this.#lastCallId;
    const call = Promise.withResolvers<unknown>();
    try {
      this.#post({ ...message, callId });
      this.#calls.set(callId, call);
    } catch (error) {
      call.reject(cannotBeSent(error));
    }
    return call.promise;
  }

  #cancel(requestId: RequestId, reason: unknown): void {
    if (!this.#responses.has(requestId)) return;
    this.#post({ type: 'cancel', requestId });
    this.#settleLocally(requestId, RequestCancelledError.because(reason));
  }

  /** The tab decides at once; a result of the worker that is already on its way finds no response and is dropped. */
  #settleLocally(requestId: RequestId, error: Error): void {
    const update: RequestUpdate = { type: 'failed', requestId, error: toWireError(error) };
    this.#responses.get(requestId)?.apply(update, error);
    this.#responses.delete(requestId);
    this.#publish('requests', [update]);
  }

  #receive(message: WorkerMessage): void {
    switch (message.type) {
      case 'status':
        this.#setStatus(message.status);
        break;
      case 'stats':
        this.#publish('stats', message.stats);
        break;
      case 'updates':
        this.#applyUpdates(message.updates);
        break;
      case 'batch':
        this.#keepBatch(message.batch);
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
    const known = updates.filter(({ requestId }) => this.#responses.has(requestId));
    for (const update of known) {
      this.#responses.get(update.requestId)?.apply(update);
      if (END_TYPES.has(update.type)) this.#responses.delete(update.requestId);
    }
    if (known.length > 0) this.#publish('requests', known);
  }

  #keepBatch(record: BatchRecord): void {
    const records = this.#batches.get(record.deployment) ?? [];
    records.push(record);
    if (records.length > MAX_KEPT_BATCHES) records.shift();
    this.#batches.set(record.deployment, records);
    this.#publish('batch', record);
  }

  #takeCall(callId: number): PromiseWithResolvers<unknown> | undefined {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    return call;
  }

  #crash(error: Error): void {
    this.#endWith(error);
    this.#setStatus({ ...this.#status, state: 'failed', error: toWireError(error) });
  }

  #endWith(error: Error): void {
    this.#end = error;
    for (const requestId of this.#responses.keys()) this.#settleLocally(requestId, error);
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }

  #setStatus(status: ServeStatus): void {
    this.#status = status;
    this.#publish('status', status);
  }

  #publish<Topic extends keyof Topics>(topic: Topic, value: Topics[Topic]): void {
    for (const listener of this.#listeners[topic]) listener(value);
  }

  #post(message: Unversioned<ClientMessage>): void {
    this.#endpoint.postMessage({ version: PROTOCOL_VERSION, ...message });
  }
}

/** A function or a DOM node cannot be cloned to the worker. */
function cannotBeSent(error: unknown): InvalidOptionError {
  return new InvalidOptionError(`It cannot be sent to the worker: ${String(error)}. Pass plain data.`);
}

function closedError(): ClosedError {
  return new ClosedError('This client is closed: call connect() for a new one.');
}
