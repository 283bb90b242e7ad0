import type { ServerResponse } from 'node:http';

/** A client that reads nothing of its answer for this long is cut. */
export const STALL_TIMEOUT_MS = 30_000;

/**
 * Cuts a client that stops reading. Call it when an answer fills the connection's buffer, and when it has ended. Each piece
 * that the client reads restarts the time; more data to send does not.
 */
export function watchStall(response: ServerResponse): void {
  const { socket } = response;
  if (!socket || socket.timeout) return;
  socket.setTimeout(STALL_TIMEOUT_MS);
  response.once('drain', () => {
    // After the end, the server sets its keep-alive timeout itself.
    if (!response.writableEnded) socket.setTimeout(0);
  });
}
