import { BridgedOutbox } from './serving/bridge/bridged-outbox.ts';
import { deployments } from './deployments/registry.ts';
import { allowOwnScripts } from './platform/own-scripts.ts';
import { faultOf } from './runtime/fault-of.ts';
import type { ServeWorkerHost } from './serving/host-reports.ts';
import { ServeWorker } from './serving/serve-worker.ts';
import {
  isForeignHello,
  isHostPing,
  parseClientMessage,
  parseWorkerInit,
} from './protocol/client-message.ts';
import { ClientRegistry } from './client/links/client-registry.ts';
import { SHARED_CHANNEL, WORKER_LOCK } from './protocol/names.ts';
import { ChannelOutbox, PortOutbox } from './serving/outbox.ts';
import { forbidThreads } from './runtime/ort.ts';
import { PROTOCOL_VERSION, type HostMessage, type Unsigned, type WorkerInit } from './protocol/protocol.ts';

/** Undefined until the worker before this one is gone. */
let serving: ServeWorker | undefined;

// The runtime starts its threads here.
allowOwnScripts();
self.addEventListener('message', onInit);

function onInit({ data }: MessageEvent<unknown>): void {
  const init = parseWorkerInit(data);
  if (!init) return;
  self.removeEventListener('message', onInit);
  void serve(init);
}

async function serve(init: WorkerInit): Promise<void> {
  // Not in the product: the tests' build alone can cause what may go wrong below.
  if (import.meta.env.MODE === 'faults') await (await import('./serving/inject-faults.ts')).injectFaults();
  if (init.past.leftRungs.some(({ rung }) => rung === 'wasm-threads')) forbidThreads();
  answerPings();
  holdLifeLock(init);
  if (init.isShared) serveAllTabs(init);
  else serveOneTab(init);
}

/** Whoever made this worker queues for the lock: when it is free, the worker is gone. Without locks there is none. */
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

/** Over the channels of the site. The lock is held to the worker's end: two never serve at the same time. */
function serveAllTabs(init: WorkerInit): void {
  void navigator.locks.request(WORKER_LOCK, () => {
    const shared = new BroadcastChannel(SHARED_CHANNEL);
    const channels = new ChannelOutbox(shared);
    const outbox = new BridgedOutbox(channels);
    const worker = new ServeWorker(deployments, outbox, hostOf(init));
    answerFor(worker);
    const clients = new ClientRegistry(navigator.locks, {
      onJoined(clientId) {
        channels.open(clientId);
        worker.setNumTabs(clients.size);
      },
      onGone(clientId) {
        channels.close(clientId);
        worker.forget(clientId);
        worker.setNumTabs(clients.size);
      },
    });
    shared.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      const message = parseClientMessage(data);
      if (message) {
        clients.meet(message.clientId);
        worker.receive(message);
      } else if (isForeignHello(data)) {
        worker.announce();
      }
    });
    void serveBridge(init, worker, outbox);
    void worker.start(init.modelUrl, init.backend, init.upstream);
    return new Promise<never>(() => {});
  });
}

function serveOneTab(init: WorkerInit): void {
  const outbox = new BridgedOutbox(new PortOutbox(self));
  const worker = new ServeWorker(deployments, outbox, hostOf(init));
  answerFor(worker);
  worker.setNumTabs(1);
  self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = parseClientMessage(data);
    if (message) worker.receive(message);
  });
  void serveBridge(init, worker, outbox);
  void worker.start(init.modelUrl, init.backend, init.upstream);
}

function hostOf({ past }: WorkerInit): ServeWorkerHost {
  return { past, tell: tellHost };
}

function tellHost(message: Unsigned<HostMessage>): void {
  self.postMessage({ version: PROTOCOL_VERSION, ...message });
}

/** Also while it waits for the worker before it to be gone: who waits does not hang. */
function answerPings(): void {
  self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isHostPing(data)) tellHost({ type: 'pong', patienceMs: serving?.patienceMs ?? 0 });
  });
}

/** From now on it answers for this worker. */
function answerFor(worker: ServeWorker): void {
  serving = worker;
  // An uncaught error reaches the host by itself.
  self.addEventListener('unhandledrejection', ({ reason }) =>
    worker.fail({ ...faultOf(reason), kind: 'worker-error' }, []),
  );
}

/** Its code comes by itself: pages of other servers never ask for it. */
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
    // The tabs are served all the same; what asks the bridge is answered that no tab is open.
  }
}
