import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Limits the connections of a server. A new connection beyond the limit closes the one that has been idle for longest. If
 * none is idle, the new one is closed. An idle connection has no complete request under way.
 */
export function limitConnections(server: Server, maxConnections: number): void {
  /** The requests under way of each connection, in the order in which the connections last became idle. */
  const requestsOf = new Map<Duplex, Set<IncomingMessage>>();

  server.on('connection', (socket: Socket) => {
    if (requestsOf.size >= maxConnections) {
      const [oldest] =
        [...requestsOf].find(([, requests]) => [...requests].every(({ complete }) => !complete)) ?? [];
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
      // The connection is idle now: it joins the end of the queue.
      if (requests?.size !== 0 || !requestsOf.delete(request.socket)) return;
      requestsOf.set(request.socket, requests);
    });
  });
  // An open WebSocket is never idle.
  server.on('upgrade', begin);
}
