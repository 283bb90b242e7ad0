import { yieldToHost } from '../../src/platform/yield-to-host.ts';
import { CHANNEL } from './seen-at-pause.ts';

const channel = new BroadcastChannel(CHANNEL);

/** Computes until a broadcast message is on its way, and pauses. Says whether the pause let the message in. */
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
  await yieldToHost();
  self.postMessage(isSeen ? 'seen' : 'not seen');
  await seen;
  self.postMessage('idle');
}

self.addEventListener('message', ({ data }: MessageEvent<Int32Array>) => void computeAndPause(data));
self.postMessage('idle');
