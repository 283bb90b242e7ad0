import type { ServerResponse } from 'node:http';

/** A client that takes nothing of its answer for so long is cut. */
export const STALL_TIMEOUT_MS = 30_000;

/**
 * Watches that the client takes what it was sent: for answers that have more in store than the connection takes at once, and for
 * those that have ended. Each piece that it takes begins the time anew; more that waits for it does not.
 */
export function watchStall(response: ServerResponse): void {
  const { socket } = response;
  if (!socket || socket.timeout) return;
  socket.setTimeout(STALL_TIMEOUT_MS);
  response.once('drain', () => {
    // Of one that has ended the server sets it anew by itself.
    if (!response.writableEnded) socket.setTimeout(0);
  });
}
