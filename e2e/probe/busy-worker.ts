import { yieldToHost } from '../../src/platform/yield-to-host.ts';
import { CHANNEL } from './seen-at-pause.ts';

const channel = new BroadcastChannel(CHANNEL);
/** A loaded machine delivers a message within this time, ms. */
const DELIVERY_MS = 30;

/** Computes until a broadcast message has come, and pauses. Says whether the pause let the message in. */
async function computeAndPause(isSent: Int32Array): Promise<void> {
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
  self.postMessage(isSeen ? 'seen' : 'not seen');
  await seen;
  self.postMessage('idle');
}

self.addEventListener('message', ({ data }: MessageEvent<Int32Array>) => void computeAndPause(data));
self.postMessage('idle');
