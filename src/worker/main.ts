import { parseClientMessage } from './client-message.ts';
import { deployments } from './deployments/registry.ts';
import { ServeWorker } from './serve-worker.ts';

const worker = new ServeWorker(deployments, (message) => self.postMessage(message));

self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  const message = parseClientMessage(data);
  if (message) worker.receive(message);
});
