import { BridgedOutbox } from './serving/bridge/bridged-outbox.ts';
import { deployments } from './deployments/registry.ts';
import { allowOwnScripts } from './platform/own-scripts.ts';
import { ServeWorker } from './serving/serve-worker.ts';
import { isForeignHello, parseClientMessage } from './protocol/client-messages.ts';
import { isHostPing, parseWorkerInit, type HostMessage, type WorkerInit } from './protocol/host-messages.ts';
import { SHARED_CHANNEL, WORKER_LOCK } from './protocol/names.ts';
import type { Outbox } from './serving/outbox.ts';
import { TabChannels } from './serving/tab-channels.ts';
import { forbidThreads } from './runtime/ort.ts';
import { PROTOCOL_VERSION, type Unsigned } from './protocol/wire.ts';

type InjectFaults = () => Promise<void>;

/** Undefined while an earlier worker still serves. */
let serving: ServeWorker | undefined;

// onnxruntime-web starts its threads from here.
allowOwnScripts();
self.addEventListener('message', onInit);

function onInit({ data }: MessageEvent<unknown>): void {
  const init = parseWorkerInit(data);
  if (!init) return;
  self.removeEventListener('message', onInit);
  void serve(init);
}

async function serve(init: WorkerInit): Promise<void> {
  // Only the build for tests injects faults.
  if (import.meta.env.MODE === 'faults') {
    const files = import.meta.glob<InjectFaults>('../../tools/faults/*.ts', { import: 'injectFaults' });
    for (const load of Object.values(files)) await (await load())();
  }
  if (init.past.leftRungs.some(({ rung }) => rung === 'wasm-threads')) forbidThreads();
  answerPings();
  holdLifeLock(init);
  if (init.isShared) serveAllTabs(init);
  else serveOneTab(init);
}

/** The tab that made this worker waits for the lock: once it is granted, the worker is gone. */
function holdLifeLock({ lifeLock }: WorkerInit): void {
  if (lifeLock === undefined) {
    tellHost({ type: 'alive' });
    return;
  }
  void navigator.locks.request(lifeLock, () => {
    tellHost({ type: 'alive' });
    return new Promise<never>(() => {});
  });
}

/** Over the channels of the site. The lock is held until the worker ends, so no two workers serve at the same time. */
function serveAllTabs(init: WorkerInit): void {
  void navigator.locks.request(WORKER_LOCK, () => {
    const shared = new BroadcastChannel(SHARED_CHANNEL);
    const tabs = new TabChannels(shared, navigator.locks, {
      onJoined: () => worker.setNumTabs(tabs.size),
      onGone(clientId) {
        worker.forget(clientId);
        worker.setNumTabs(tabs.size);
      },
    });
    const worker = startWorker(init, tabs);
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const message = parseClientMessage(data);
      if (message) {
        tabs.meet(message.clientId);
        worker.receive(message);
      } else if (isForeignHello(data)) {
        worker.announce();
      }
    });
    return new Promise<never>(() => {});
  });
}

function serveOneTab(init: WorkerInit): void {
  const worker = startWorker(init, {
    toAll: (message) => self.postMessage(message),
    toClient: (_, message) => self.postMessage(message),
  });
  worker.setNumTabs(1);
  self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = parseClientMessage(data);
    if (message) worker.receive(message);
  });
}

function startWorker(init: WorkerInit, tabs: Outbox): ServeWorker {
  const outbox = new BridgedOutbox(tabs);
  const worker = new ServeWorker(deployments, outbox, { past: init.past, tell: tellHost });
  serving = worker;
  // The host hears of an uncaught error by itself, but not of a rejection.
  self.addEventListener('unhandledrejection', ({ reason }) => worker.fail(reason));
  void serveBridge(init, worker, outbox);
  void worker.start(init.modelUrl, init.backend, init.upstream);
  return worker;
}

function tellHost(message: Unsigned<HostMessage>): void {
  self.postMessage({ version: PROTOCOL_VERSION, ...message });
}

/** Also while an earlier worker still serves: waiting for its end is not hanging. */
function answerPings(): void {
  self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isHostPing(data)) tellHost({ type: 'pong', patienceMs: serving?.patienceMs ?? 0 });
  });
}

/** The code is imported on demand: pages of other servers never need it. */
async function serveBridge(
  { bridgeUrl }: WorkerInit,
  worker: ServeWorker,
  outbox: BridgedOutbox,
): Promise<void> {
  if (bridgeUrl === undefined) return;
  try {
    const { keepBridged } = await import('./serving/bridge/bridge-connection.ts');
    await keepBridged(bridgeUrl, worker, outbox);
  } catch {
    // The tabs are served without it. The bridge answers that no tab is open.
  }
}
