import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Answers an invalid request, or one for a WebSocket, and closes the connection. Node leaves a connection half open after it
 * has handed it over, so without this such connections would leak.
 */
export function refuseConnection(socket: Duplex, status: number, body = ''): void {
  // Without a listener, a client that leaves first would crash the server.
  socket.on('error', () => undefined);
  socket.once('finish', () => socket.destroy());
  const type = body === '' ? '' : 'Content-Type: application/json; charset=utf-8\r\n';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n${type}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
