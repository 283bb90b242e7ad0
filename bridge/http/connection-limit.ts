import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Bounds the connections of a server. When one more comes, the connection that has been idle for longest is closed: idle means
 * that no whole request of it is under way. Without an idle one, the newcomer is closed.
 */
export function limitConnections(server: Server, maxConnections: number): void {
  /** With their requests under way, in the order in which they last became idle. */
  const requestsOf = new Map<Duplex, Set<IncomingMessage>>();

  server.on('connection', (socket: Socket) => {
    if (requestsOf.size >= maxConnections) {
      const [oldest] = [...requestsOf].find(([, requests]) => isIdle(requests)) ?? [];
      if (!oldest) {
        socket.destroy();
        return;
      }
      requestsOf.delete(oldest);
      oldest.destroy();
    }
    requestsOf.set(socket, new Set());
    socket.once('close', () => requestsOf.delete(socket));
  });

  const begin = (request: IncomingMessage): Set<IncomingMessage> | undefined =>
    requestsOf.get(request.socket)?.add(request);

  server.on('request', (request, response) => {
    const requests = begin(request);
    response.once('close', () => {
      requests?.delete(request);
      // Nothing is under way any more: the connection joins the end of the queue.
      if (requests?.size !== 0 || !requestsOf.delete(request.socket)) return;
      requestsOf.set(request.socket, requests);
    });
  });
  // A WebSocket is at work for as long as it is open.
  server.on('upgrade', begin);
}

function isIdle(requests: ReadonlySet<IncomingMessage>): boolean {
  return [...requests].every(({ complete }) => !complete);
}
