/**
 * Waits for a task: what settles in microtasks alone keeps every message of a tab waiting. A message port is not throttled
 * like a timer in a hidden tab.
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
