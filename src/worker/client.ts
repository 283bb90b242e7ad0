import { ClosedError, InvalidOptionError, RequestCancelledError } from '../batching/errors.ts';
import { DEFAULT_POLICY } from '../batching/generation/policy.ts';
import { GenerationResponse } from './generation-response.ts';
import { createClientId, createRequestId } from './ids.ts';
import {
  PROTOCOL_VERSION,
  type BackendChoice,
  type BatchingPolicy,
  type ClientMessage,
  type GenerationOptions,
  type RequestId,
  type RequestUpdate,
  type ServeStats,
  type ServeStatus,
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

/** A deployment that continues prompts. */
export interface TextGeneratorHandle {
  /**
   * Submits a prompt. Never throws: what is wrong with it rejects the response.
   *
   * @param prompt Non-empty; shorter than the model's context, in tokens.
   */
  remote(prompt: string, options?: GenerationOptions & { readonly signal?: AbortSignal }): GenerationResponse;
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
  readonly #responses = new Map<RequestId, GenerationResponse>();
  readonly #configureCalls = new Map<number, PromiseWithResolvers<BatchingPolicy>>();
  readonly #listeners: { readonly [Topic in keyof Topics]: Set<Listener<Topic>> } = {
    status: new Set(),
    stats: new Set(),
    requests: new Set(),
  };
  #status: ServeStatus = { state: 'loading', role: 'leader', policy: DEFAULT_POLICY };
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

  getHandle(name: 'text-generator'): TextGeneratorHandle {
    if (name !== 'text-generator') throw InvalidOptionError.of('name', 'the name of a deployment', name);
    return { remote: (prompt, options = {}) => this.#submit(prompt, options) };
  }

  /**
   * Changes knobs of a deployment for the next scheduling decision; nothing that runs is disturbed.
   * Rejects with InvalidOptionError or UnknownOptionError, and then changes nothing.
   */
  configure(_name: 'text-generator', knobs: Partial<BatchingPolicy>): Promise<BatchingPolicy> {
    const callId = ++this.#lastCallId;
    const call = Promise.withResolvers<BatchingPolicy>();
    if (this.#end) return Promise.reject(this.#end);
    this.#configureCalls.set(callId, call);
    this.#post({ type: 'configure', callId, knobs });
    return call.promise;
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

  #submit(
    prompt: unknown,
    { signal, ...options }: GenerationOptions & { signal?: AbortSignal },
  ): GenerationResponse {
    const requestId = createRequestId();
    const response = new GenerationResponse(requestId, (reason) => this.#cancel(requestId, reason));
    this.#responses.set(requestId, response);
    this.#publish('requests', [
      { type: 'submitted', requestId, prompt: typeof prompt === 'string' ? prompt : '' },
    ]);
    if (this.#end) {
      this.#settleLocally(response, this.#end);
    } else if (signal?.aborted) {
      this.#settleLocally(response, RequestCancelledError.because(signal.reason));
    } else {
      if (signal) response.follow(signal);
      this.#send(response, prompt, options);
    }
    return response;
  }

  #send(response: GenerationResponse, prompt: unknown, options: unknown): void {
    try {
      this.#post({
        type: 'submit',
        requestId: response.requestId,
        clientId: this.#clientId,
        prompt,
        options,
      });
    } catch (error) {
      // A function or a DOM node cannot be cloned to the worker.
      this.#settleLocally(response, new InvalidOptionError(`The request cannot be sent: ${String(error)}`));
    }
  }

  #cancel(requestId: RequestId, reason: unknown): void {
    const response = this.#responses.get(requestId);
    if (!response) return;
    this.#post({ type: 'cancel', requestId });
    this.#settleLocally(response, RequestCancelledError.because(reason));
  }

  /** The tab decides at once; a result of the worker that is already on its way finds no response and is dropped. */
  #settleLocally(response: GenerationResponse, error: Error): void {
    const { requestId } = response;
    this.#responses.delete(requestId);
    response.apply({ type: 'failed', requestId, error: toWireError(error) }, error);
    this.#publish('requests', [{ type: 'failed', requestId, error: toWireError(error) }]);
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
      case 'configured':
        this.#takeConfigureCall(message.callId)?.resolve(message.policy);
        break;
      case 'configure-refused':
        this.#takeConfigureCall(message.callId)?.reject(fromWireError(message.error));
        break;
      default:
        message satisfies never;
    }
  }

  #applyUpdates(updates: readonly RequestUpdate[]): void {
    const known = updates.filter(({ requestId }) => this.#responses.has(requestId));
    for (const update of known) {
      this.#responses.get(update.requestId)?.apply(update);
      if (update.type === 'finished' || update.type === 'failed') this.#responses.delete(update.requestId);
    }
    if (known.length > 0) this.#publish('requests', known);
  }

  #takeConfigureCall(callId: number): PromiseWithResolvers<BatchingPolicy> | undefined {
    const call = this.#configureCalls.get(callId);
    this.#configureCalls.delete(callId);
    return call;
  }

  #crash(error: Error): void {
    this.#endWith(error);
    this.#setStatus({ ...this.#status, state: 'failed', error: toWireError(error) });
  }

  #endWith(error: Error): void {
    this.#end = error;
    for (const response of this.#responses.values()) this.#settleLocally(response, error);
    for (const call of this.#configureCalls.values()) call.reject(error);
    this.#configureCalls.clear();
  }

  #setStatus(status: ServeStatus): void {
    this.#status = status;
    this.#publish('status', status);
  }

  #publish<Topic extends keyof Topics>(topic: Topic, value: Topics[Topic]): void {
    for (const listener of this.#listeners[topic]) listener(value);
  }

  #post(
    message: ClientMessage extends infer M ? (M extends unknown ? Omit<M, 'version'> : never) : never,
  ): void {
    this.#endpoint.postMessage({ version: PROTOCOL_VERSION, ...message });
  }
}

function closedError(): ClosedError {
  return new ClosedError('This client is closed: call connect() for a new one.');
}
