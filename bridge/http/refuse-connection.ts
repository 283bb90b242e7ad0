import type { Duplex } from 'node:stream';

const REASONS = {
  400: 'Bad Request',
  403: 'Forbidden',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
} as const;

export type RefusalStatus = keyof typeof REASONS;

/**
 * Answers on a connection that no request has come from, or that asked for a WebSocket, and closes it, whatever the client does:
 * Node leaves its half open once it has handed the connection over, and such ones would add up.
 */
export function refuseConnection(socket: Duplex, status: RefusalStatus, body = ''): void {
  // A client may leave first; Node no longer listens for that.
  socket.on('error', () => undefined);
  socket.once('finish', () => socket.destroy());
  const type = body === '' ? '' : 'Content-Type: application/json; charset=utf-8\r\n';
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\n${type}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
