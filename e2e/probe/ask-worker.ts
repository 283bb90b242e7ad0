/** Sends a message to a worker. Resolves with its next answer. */
export function askWorker(worker: Worker, message: unknown): Promise<unknown> {
  worker.postMessage(message);
  return nextAnswer(worker);
}

export function nextAnswer(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<unknown>) => resolve(data), { once: true });
    worker.addEventListener('error', ({ message }) => reject(new Error(message)), { once: true });
  });
}
