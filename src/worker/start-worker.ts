import { systemClock } from '../batching/base/clock.ts';
import { InvalidOptionError } from '../batching/base/errors.ts';
import { allowOwnScripts } from '../platform/own-scripts.ts';
import { isForeignHello, parseClientMessages } from '../protocol/client-messages.ts';
import { isHostPing, parseWorkerInit, type HostMessage, type WorkerInit } from '../protocol/host-messages.ts';
import { createWorkerId, type WorkerId } from '../protocol/ids.ts';
import { isStolen } from '../protocol/locks.ts';
import { ALIVE, ASK, namesOf } from '../protocol/names.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../protocol/wire.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { importPart } from './base/import-part.ts';
import type { OrtBuilds } from './runtime/ort/ort-builds.ts';
import { isKernelThread, serveKernelThread } from './cpu/threads/kernel-thread.ts';
import { forbidThreads, setBuilds, setRuntimeFolder } from './runtime/ort/ort.ts';
import { importModels } from './serving/models/model-service.ts';
import { BridgedOutbox, TabChannels, type Outbox } from './serving/tab-messages.ts';
import { ServeWorker } from './serving/serve-worker.ts';
import { serveUnderLock, whenOthersEnded } from './serving/worker-locks.ts';
import type { StartWorkerOptions } from './start-options.ts';

const NO_OPTIONS: StartWorkerOptions = {};

let hasStarted = false;

/**
 * Makes this dedicated worker serve the tabs of its app. Call it once, while the worker's script is evaluated. Otherwise the page's
 * first message is lost.
 *
 * @param builds Of onnxruntime-web, that the worker chooses from.
 */
export function startWorkerWith(builds: OrtBuilds, options: StartWorkerOptions = NO_OPTIONS): void {
  if (isKernelThread()) return serveKernelThread();
  // The browser reports it to the page as the worker's failure.
  if (hasStarted) throw new InvalidOptionError('startWorker() was called twice: call it once');
  hasStarted = true;
  setBuilds(builds);
  // Threads of kernels and of onnxruntime-web start from this worker.
  allowOwnScripts();
  const onInit = ({ data }: MessageEvent<unknown>): void => {
    const init = parseWorkerInit(data);
    if (!init) return;
    self.removeEventListener('message', onInit);
    // The browser reports an uncaught error to the host, but not a rejection.
    new WorkerStart(options, init).serve().catch((error: unknown) => self.reportError(error));
  };
  self.addEventListener('message', onInit);
}

/** Wires the worker to the page that made it, and to the tabs. */
class WorkerStart {
  #options: StartWorkerOptions;
  readonly #init: WorkerInit;
  /** What is wrong with the options: the worker serves nothing, and says why. */
  #refusal: unknown;
  /** Undefined while an earlier worker still serves. */
  #serving: ServeWorker | undefined;

  constructor(options: StartWorkerOptions, init: WorkerInit) {
    this.#options = options;
    this.#init = init;
  }

  async serve(): Promise<void> {
    const { past, isShared } = this.#init;
    if (past.leftRungs.some(({ rung }) => rung === 'wasm-threads')) forbidThreads();
    this.#answerPings();
    this.#holdLifeLock();
    await this.#prepare();
    if (isShared) this.#serveAllTabs();
    else this.#serveOneTab();
    // It comes while the locks are waited for. A failure is reported by the start of the model, which asks again.
    importModels().catch(() => {});
  }

  async #prepare(): Promise<void> {
    if (this.#options === NO_OPTIONS) return;
    try {
      const { checkStartOptions } = await importPart(() => import('./check-start-options.ts'));
      checkStartOptions(this.#options);
    } catch (error) {
      this.#refusal = error;
      this.#options = NO_OPTIONS;
    }
    const { runtimeUrl, prepare } = this.#options;
    if (runtimeUrl !== undefined) setRuntimeFolder(new URL(runtimeUrl, self.location.href).href);
    await prepare?.();
  }

  /** The tab that made this worker queues for the lock. Once the tab gets it, the worker is gone. */
  #holdLifeLock(): void {
    const { lifeLock } = this.#init;
    if (lifeLock === undefined) {
      tellHost({ type: 'alive' });
      return;
    }
    void navigator.locks.request(lifeLock, () => {
      tellHost({ type: 'alive' });
      return new Promise<never>(() => {});
    });
  }

  /** Serves over the channels of the app. Tabs listen to the worker that holds the lock, so no two workers serve them. */
  #serveAllTabs(): void {
    const names = namesOf(this.#init.app);
    const serve = (workerId: WorkerId): Promise<never> => {
      answerAsks(names.livenessChannel);
      const shared = new BroadcastChannel(names.sharedChannel);
      const host = { clientId: this.#init.tabs.leader, post: tellTab };
      const tabs = new TabChannels(shared, host, navigator.locks, names, {
        onJoined: (clientId) => worker.openTab(clientId),
        onGone: (clientId) => worker.forget(clientId),
      });
      const worker = this.#start(workerId, tabs);
      const receive = (data: unknown): boolean => {
        const messages = parseClientMessages(data);
        for (const message of messages) {
          tabs.meet(message.clientId);
          worker.receive(message);
        }
        return messages.length > 0;
      };
      self.addEventListener('message', ({ data }: MessageEvent<unknown>) => receive(data));
      shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (!receive(data) && isForeignHello(data)) worker.announce();
      });
      return new Promise(() => {});
    };
    serveUnderLock({ locks: navigator.locks, names, clock: systemClock }, serve).catch((error: unknown) => {
      if (isStolen(error)) self.close();
      else self.reportError(error);
    });
  }

  #serveOneTab(): void {
    const worker = this.#start(createWorkerId(), {
      toAll: tellTab,
      toClient: (_, message) => tellTab(message),
    });
    worker.openTab(this.#init.tabs.leader);
    self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      for (const message of parseClientMessages(data)) worker.receive(message);
    });
  }

  #start(workerId: WorkerId, tabs: Outbox): ServeWorker {
    const {
      app,
      past,
      tabs: numbers,
      model,
      dtype,
      encoders,
      backend,
      bridgeUrl,
      lifeLock,
      isTrial,
    } = this.#init;
    const { deployments = [] } = this.#options;
    const outbox = new BridgedOutbox(tabs);
    const worker = new ServeWorker(deployments, outbox, {
      workerId,
      past,
      tabs: numbers,
      tell: tellHost,
      whenAlone: () => whenOthersEnded(navigator.locks, namesOf(app), lifeLock),
      ...(app !== undefined && { app }),
      isTrial,
      lifeLock,
    });
    this.#serving = worker;
    // The browser reports an uncaught error to the host, but not a rejection.
    self.addEventListener('unhandledrejection', ({ reason }) => worker.fail(reason));
    void serveBridge(bridgeUrl, worker, outbox);
    void worker.start({ model, dtype, ...(encoders && { encoders }) }, backend, this.#refusal);
    return worker;
  }

  /** Also answers while an earlier worker still serves, since waiting for its end is not hanging. */
  #answerPings(): void {
    self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (isHostPing(data)) tellHost({ type: 'pong', patienceMs: this.#serving?.patienceMs ?? 0 });
    });
  }
}

/** A tab that waits in vain asks whether this process runs. A busy worker answers late, and its page before that. */
function answerAsks(channelName: string): void {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data === ASK) channel.postMessage(ALIVE);
  });
}

/** The tab that made this worker, as a client. */
function tellTab(message: WorkerMessage): void {
  self.postMessage(message);
}

function tellHost(message: Unsigned<HostMessage>): void {
  self.postMessage({ version: PROTOCOL_VERSION, ...message });
}

/** The code is imported on demand: pages of other servers never need it. */
async function serveBridge(
  bridgeUrl: string | undefined,
  worker: ServeWorker,
  outbox: BridgedOutbox,
): Promise<void> {
  if (bridgeUrl === undefined) return;
  try {
    const { keepBridged } = await import('./serving/bridge/bridge-connection.ts');
    await keepBridged(bridgeUrl, worker, outbox);
  } catch {
    // Serve the tabs without the bridge, which answers that no tab is open.
  }
}
