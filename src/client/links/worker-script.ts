import { InvalidOptionError } from '../../batching/base/errors.ts';
import { WorkerNotLoadedError } from '../../protocol/errors/worker.ts';
import type { ScriptAnswer } from './script-answer.ts';

/** What is known of scripts that can't be loaded. */
type Observing = typeof import('./script-answer.ts');

/** Makes an app's workers. When a script can't be loaded, it learns where the script should be. */
export class WorkerScript<Port> {
  readonly #createWorker: () => Port;
  /** Set a little after a script could not be loaded. */
  #observing: Observing | undefined;
  #answer: ScriptAnswer | undefined;

  constructor(createWorker: () => Port) {
    this.#createWorker = createWorker;
  }

  /** Why the script was not loaded. */
  get reason(): Error {
    return this.#observing?.scriptNotLoaded(this.#answer?.text) ?? WorkerNotLoadedError.withoutServer();
  }

  /**
   * Why no other try will succeed, if that is known.
   *
   * @param directive Of the page's Content-Security-Policy, if that has blocked the script.
   */
  refusal(directive: string | undefined): Error | undefined {
    return directive === undefined ? this.#answer?.refusal : this.#observing?.scriptBlocked(directive);
  }

  /** The script of the last worker could not be loaded. */
  reportMissing(): void {
    void import('./script-answer.ts')
      .then((observing) => (this.#observing = observing))
      // Without its server, this code doesn't come either.
      .catch(() => {});
  }

  /** @throws What the app's function throws. InvalidOptionError if it returns no worker. */
  start(): Port {
    const port =
      this.#observing && !this.#answer
        ? this.#observing.startObserved(this.#createWorker, (answer) => (this.#answer = answer))
        : this.#createWorker();
    if (typeof Object(port).postMessage === 'function') return port;
    throw InvalidOptionError.of('worker', 'a function that makes a worker, and not a promise of one', port);
  }
}
