import { PROTOCOL_VERSION, type WorkerInit } from '../protocol.ts';

/** What a worker is to the tab that makes it. */
export interface WorkerPort {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
}

export interface WorkerHostOptions {
  readonly createWorker: () => WorkerPort;
  readonly init: Omit<WorkerInit, 'version' | 'type'>;
  readonly onMessage: (data: unknown) => void;
  /** So many workers have failed one after another that the next would as well. */
  readonly onGiveUp: (error: Error) => void;
}

/** Workers that fail before one of them gets ready. */
const MAX_FAILURES = 3;

/** Keeps a worker running in this tab: one that fails is replaced. */
export class WorkerHost {
  readonly #options: WorkerHostOptions;
  #worker: WorkerPort | undefined;
  #numFailures = 0;

  constructor(options: WorkerHostOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  start(): void {
    const { init, onMessage } = this.#options;
    const worker = this.#create();
    if (!worker) return;
    this.#worker = worker;
    worker.addEventListener('message', ({ data }) => onMessage(data));
    worker.addEventListener('error', ({ message }) => this.#replace(worker, message));
    this.post({ version: PROTOCOL_VERSION, type: 'init', ...init } satisfies WorkerInit);
  }

  /** The worker serves: what failed before it counts no more. */
  recordReady(): void {
    this.#numFailures = 0;
  }

  post(message: unknown): void {
    this.#worker?.postMessage(message);
  }

  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** Undefined where the browser refuses one: a policy of the page, say. */
  #create(): WorkerPort | undefined {
    try {
      return this.#options.createWorker();
    } catch (cause) {
      // In a turn of its own: whoever called is not done yet.
      queueMicrotask(() => this.#options.onGiveUp(failureOf(String(cause))));
      return undefined;
    }
  }

  /** The message is missing where the worker's script could not be loaded. */
  #replace(worker: WorkerPort, message: string | undefined): void {
    if (worker !== this.#worker) return;
    this.stop();
    this.#numFailures += 1;
    if (this.#numFailures < MAX_FAILURES) this.start();
    else this.#options.onGiveUp(failureOf(message ?? 'its script could not be loaded'));
  }
}

function failureOf(detail: string): Error {
  return new Error(`The worker failed (${detail}): reload the page.`);
}
