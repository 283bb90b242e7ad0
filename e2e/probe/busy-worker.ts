import { yieldToHost } from '../../src/platform/yield-to-host.ts';

/** A loaded machine delivers a message within this time, ms. */
const DELIVERY_MS = 30;

const seen = { count: 0 };
new BroadcastChannel('pause').addEventListener('message', () => void (seen.count += 1));

/** Computes until each message has been sent, and for as long as it takes. Counts the messages that the next pause lets in. */
async function countSeen({ data: sent }: MessageEvent<Int32Array>): Promise<void> {
  const [, numMessages = 0] = sent;
  let numSeenAtPause = 0;
  for (let message = 1; message <= numMessages; message += 1) {
    self.postMessage('busy');
    while (Atomics.load(sent, 0) < message);
    const sentAtMs = performance.now();
    while (performance.now() - sentAtMs < DELIVERY_MS);
    await yieldToHost();
    if (seen.count === message) numSeenAtPause += 1;
    while (seen.count < message) await yieldToHost();
  }
  self.postMessage(numSeenAtPause);
}

self.addEventListener('message', (event) => void countSeen(event));
