import { InvalidOptionError } from '../../batching/base/errors.ts';

/** Makes an app's workers. When a script can't be loaded, it learns where the script should be: browsers don't tell. */
export class WorkerScript<Port> {
  readonly #createWorker: () => Port;
  #isMissing = false;
  #answer: string | undefined;

  constructor(createWorker: () => Port) {
    this.#createWorker = createWorker;
  }

  /** The address of a missing script, and what the server answers there. */
  get answer(): string | undefined {
    return this.#answer;
  }

  /** The script of the last worker could not be loaded. */
  reportMissing(): void {
    this.#isMissing = true;
  }

  /** @throws What the app's function throws. InvalidOptionError if it returns no worker. */
  start(): Port {
    const port = this.#isMissing && this.#answer === undefined ? this.#startObserved() : this.#createWorker();
    if (typeof Object(port).postMessage === 'function') return port;
    throw InvalidOptionError.of('worker', 'a function that makes a worker, and not a promise of one', port);
  }

  #startObserved(): Port {
    const { Worker: Native } = globalThis;
    globalThis.Worker = class extends Native {
      constructor(script: string | URL, options?: WorkerOptions) {
        super(script, options);
        observe(new URL(script, document.baseURI).href);
      }
    };
    const observe = (url: string): void => {
      this.#answer = url;
      void describeAnswer(url).then((answer) => (this.#answer = answer));
    };
    try {
      return this.#createWorker();
    } finally {
      globalThis.Worker = Native;
    }
  }
}

async function describeAnswer(url: string): Promise<string> {
  try {
    const { status, headers } = await fetch(url);
    return `${url} answers with the status ${status} and the type ${headers.get('content-type') ?? 'unknown'}`;
  } catch {
    return url;
  }
}
