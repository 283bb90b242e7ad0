import { askWorker, nextAnswer } from './ask-worker.ts';

export const CHANNEL = 'seen-at-pause';

/** Broadcasts messages while a worker computes. Returns how many of them it sees at its next pause. */
export async function seenAtPause(numMessages: number): Promise<number> {
  const worker = new Worker(new URL('./busy-worker.ts', import.meta.url), { type: 'module' });
  const [mouth, ear] = [new BroadcastChannel(CHANNEL), new BroadcastChannel(CHANNEL)];
  let numSeen = 0;
  let isSent: Int32Array = new Int32Array();
  // What this page has back is on its way to the worker.
  ear.addEventListener('message', () => void Atomics.store(isSent, 0, 1));
  for (let message = 0; message < numMessages; message += 1) {
    isSent = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    await askWorker(worker, isSent);
    mouth.postMessage(null);
    numSeen += Number(await nextAnswer(worker));
  }
  worker.terminate();
  mouth.close();
  ear.close();
  return numSeen;
}
