import { BridgedOutbox } from './bridge/bridged-outbox.ts';
import { deployments } from './deployments/registry.ts';
import { ServeWorker } from './serve-worker.ts';
import { isForeignHello, parseClientMessage, parseWorkerInit } from './tabs/client-message.ts';
import { ClientRegistry } from './tabs/client-registry.ts';
import { SHARED_CHANNEL, WORKER_LOCK } from './tabs/names.ts';
import { ChannelOutbox, PortOutbox } from './tabs/outbox.ts';
import type { WorkerInit } from './protocol.ts';

self.addEventListener('message', onInit);

function onInit({ data }: MessageEvent<unknown>): void {
  const init = parseWorkerInit(data);
  if (!init) return;
  self.removeEventListener('message', onInit);
  if (init.isShared) serveAllTabs(init);
  else serveOneTab(init);
}

/** Over the channels of the site. The lock is held to the worker's end: two never serve at the same time. */
function serveAllTabs({ modelUrl, backend, bridgeUrl }: WorkerInit): void {
  void navigator.locks.request(WORKER_LOCK, () => {
    const shared = new BroadcastChannel(SHARED_CHANNEL);
    const channels = new ChannelOutbox(shared);
    const outbox = new BridgedOutbox(channels);
    const worker = new ServeWorker(deployments, outbox);
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
    if (bridgeUrl !== undefined) void serveBridge(bridgeUrl, worker, outbox);
    void worker.start(modelUrl, backend);
    return new Promise<never>(() => {});
  });
}

function serveOneTab({ modelUrl, backend, bridgeUrl }: WorkerInit): void {
  const outbox = new BridgedOutbox(new PortOutbox(self));
  const worker = new ServeWorker(deployments, outbox);
  worker.setNumTabs(1);
  self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = parseClientMessage(data);
    if (message) worker.receive(message);
  });
  if (bridgeUrl !== undefined) void serveBridge(bridgeUrl, worker, outbox);
  void worker.start(modelUrl, backend);
}

/** Its code comes by itself: pages of other servers never ask for it. */
async function serveBridge(url: string, worker: ServeWorker, outbox: BridgedOutbox): Promise<never> {
  const { keepBridged } = await import('./bridge/bridge-connection.ts');
  return keepBridged(url, worker, outbox);
}
