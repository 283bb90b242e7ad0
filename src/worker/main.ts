import { deployments } from './deployments/registry.ts';
import { allowOwnScripts } from './own-scripts.ts';
import { ServeWorker } from './serve-worker.ts';
import { isForeignHello, parseClientMessage, parseWorkerInit } from './tabs/client-message.ts';
import { ClientRegistry } from './tabs/client-registry.ts';
import { SHARED_CHANNEL, WORKER_LOCK } from './tabs/names.ts';
import { ChannelOutbox, PortOutbox } from './tabs/outbox.ts';
import type { WorkerInit } from './protocol.ts';

// The runtime starts its threads here.
allowOwnScripts();
self.addEventListener('message', onInit);

function onInit({ data }: MessageEvent<unknown>): void {
  const init = parseWorkerInit(data);
  if (!init) return;
  self.removeEventListener('message', onInit);
  if (init.isShared) serveAllTabs(init);
  else serveOneTab(init);
}

/** Over the channels of the site. The lock is held to the worker's end: two never serve at the same time. */
function serveAllTabs({ modelUrl, backend }: WorkerInit): void {
  void navigator.locks.request(WORKER_LOCK, () => {
    const shared = new BroadcastChannel(SHARED_CHANNEL);
    const outbox = new ChannelOutbox(shared);
    const worker = new ServeWorker(deployments, outbox);
    const clients = new ClientRegistry(navigator.locks, {
      onJoined(clientId) {
        outbox.open(clientId);
        worker.setNumTabs(clients.size);
      },
      onGone(clientId) {
        outbox.close(clientId);
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
    void worker.start(modelUrl, backend);
    return new Promise<never>(() => {});
  });
}

function serveOneTab({ modelUrl, backend }: WorkerInit): void {
  const worker = new ServeWorker(deployments, new PortOutbox(self));
  worker.setNumTabs(1);
  self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = parseClientMessage(data);
    if (message) worker.receive(message);
  });
  void worker.start(modelUrl, backend);
}
