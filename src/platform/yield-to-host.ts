/**
 * Resolves when the messages that tabs have sent are seen; microtasks alone would hold them up. Unlike a timer, a message port is
 * not throttled in a hidden tab.
 */
export function yieldToHost(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', ({ data: isLast }) => {
      if (isLast === false) {
        // Chromium spends a first task on taking a broadcast message in, and a second one, behind all that wait, on its event.
        port2.postMessage(true);
        return;
      }
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(false);
  });
}
