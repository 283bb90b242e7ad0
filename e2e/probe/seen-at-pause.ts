/** Broadcasts messages while a worker computes. Returns how many of them it sees at its next pause. */
export async function seenAtPause(numMessages: number): Promise<number> {
  const worker = new Worker(new URL('./busy-worker.ts', import.meta.url), { type: 'module' });
  const channel = new BroadcastChannel('pause');
  const sent = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  sent[1] = numMessages;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.addEventListener('error', ({ message }) => reject(new Error(message)));
  worker.addEventListener('message', ({ data }: MessageEvent<'busy' | number>) => {
    if (data !== 'busy') return resolve(data);
    channel.postMessage(null);
    Atomics.add(sent, 0, 1);
  });
  worker.postMessage(sent);
  return promise.finally(() => {
    worker.terminate();
    channel.close();
  });
}
