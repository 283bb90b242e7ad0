export const CHANNEL = 'seen-at-pause';

/** Broadcasts messages while a worker computes. Returns how many of them it sees at its next pause. */
export async function seenAtPause(numMessages: number): Promise<number> {
  const worker = new Worker(new URL('./busy-worker.ts', import.meta.url), { type: 'module' });
  const [mouth, ear] = [new BroadcastChannel(CHANNEL), new BroadcastChannel(CHANNEL)];
  let isSent = new Int32Array(new SharedArrayBuffer(0));
  let numIdle = 0;
  let numSeen = 0;
  await new Promise<void>((resolve) => {
    // What this page has back is on its way to the worker.
    ear.addEventListener('message', () => void Atomics.store(isSent, 0, 1));
    worker.addEventListener('message', ({ data: state }: MessageEvent<string>) => {
      if (state === 'busy') mouth.postMessage(null);
      if (state === 'seen') numSeen += 1;
      if (state !== 'idle') return;
      if (numIdle === numMessages) {
        resolve();
        return;
      }
      numIdle += 1;
      isSent = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      worker.postMessage(isSent);
    });
  });
  worker.terminate();
  mouth.close();
  ear.close();
  return numSeen;
}
