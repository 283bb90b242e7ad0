/**
 * Resolves in a task of its own. Work that settles in microtasks alone lets no message of a tab be seen until it ends.
 * A message port is not throttled like a timer in a hidden tab.
 */
export function yieldToHost(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
