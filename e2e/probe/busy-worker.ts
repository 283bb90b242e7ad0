import { yieldToHost } from '../../src/platform/yield-to-host.ts';
import { CHANNEL } from './seen-at-pause.ts';

/** A loaded machine delivers a message within this time, ms. */
const DELIVERY_MS = 30;

const channel = new BroadcastChannel(CHANNEL);

/** Computes until a broadcast message has been sent, and for as long as it takes. Then says whether a pause lets it in. */
async function computeAndPause({ data: isSent }: MessageEvent<Int32Array>): Promise<void> {
  let isSeen = false;
  const seen = new Promise<void>((resolve) => {
    const onMessage = (): void => {
      isSeen = true;
      resolve();
    };
    channel.addEventListener('message', onMessage, { once: true });
  });
  self.postMessage('busy');
  while (Atomics.load(isSent, 0) === 0);
  const sentAtMs = performance.now();
  while (performance.now() - sentAtMs < DELIVERY_MS);
  await yieldToHost();
  const isSeenAtPause = isSeen;
  await seen;
  self.postMessage(isSeenAtPause);
}

self.addEventListener('message', (event) => void computeAndPause(event));
