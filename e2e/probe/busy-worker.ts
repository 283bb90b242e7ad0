import { yieldToHost } from '../../src/platform/yield-to-host.ts';
import { CHANNEL } from './seen-at-pause.ts';

/** A loaded machine delivers a message within this time, ms. */
const DELIVERY_MS = 30;

/** Computes until a broadcast message has been sent, and for as long as it takes. Then says whether a pause lets it in. */
async function computeAndPause({ data: isSent }: MessageEvent<Int32Array>): Promise<void> {
  const channel = new BroadcastChannel(CHANNEL);
  let isSeen = false;
  channel.addEventListener('message', () => (isSeen = true));
  self.postMessage('busy');
  while (Atomics.load(isSent, 0) === 0);
  const sentAtMs = performance.now();
  while (performance.now() - sentAtMs < DELIVERY_MS);
  await yieldToHost();
  channel.close();
  self.postMessage(isSeen);
}

self.addEventListener('message', (event) => void computeAndPause(event));
