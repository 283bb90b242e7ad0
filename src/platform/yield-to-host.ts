/**
 * Resolves in a new task, so that messages of tabs are seen in between; microtasks alone would hold them up. Unlike a timer,
 * a message port is not throttled in a hidden tab.
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
