import type { Duplex } from 'node:stream';

const REASONS = {
  400: 'Bad Request',
  403: 'Forbidden',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
} as const;

export type RefusalStatus = keyof typeof REASONS;

/**
 * Answers an invalid request, or one for a WebSocket, and closes the connection. Node leaves a connection half open after it
 * has handed it over, so without this such connections would leak.
 */
export function refuseConnection(socket: Duplex, status: RefusalStatus, body = ''): void {
  // Without a listener, a client that leaves first would crash the server.
  socket.on('error', () => undefined);
  socket.once('finish', () => socket.destroy());
  const type = body === '' ? '' : 'Content-Type: application/json; charset=utf-8\r\n';
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\n${type}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
