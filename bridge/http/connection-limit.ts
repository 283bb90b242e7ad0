import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The limit of a server's connections. */
export interface ConnectionLimit {
  /** What this request asks for is no work: its connection may be closed for a newcomer, the later the more recently it read. */
  release(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * Limits the connections of a server. A new connection beyond the limit closes the one that has been idle for longest. If
 * none is idle, the new one is closed. An idle connection has no complete request for work under way.
 */
export function limitConnections(server: Server, maxConnections: number): ConnectionLimit {
  /** The requests for work of each connection, in the order in which the connections last became idle, or last read. */
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

  /** The connection joins the end of the queue if it is idle. */
  const touch = ({ socket }: IncomingMessage): void => {
    const requests = requestsOf.get(socket);
    if (requests?.size !== 0) return;
    requestsOf.delete(socket);
    requestsOf.set(socket, requests);
  };

  const begin = (request: IncomingMessage): Set<IncomingMessage> | undefined =>
    requestsOf.get(request.socket)?.add(request);

  // Before any answer may release it.
  server.prependListener('request', (request, response) => {
    const requests = begin(request);
    response.once('close', () => {
      if (requests?.delete(request)) touch(request);
    });
  });
  // An open WebSocket is never idle.
  server.on('upgrade', begin);

  return {
    release(request, response) {
      requestsOf.get(request.socket)?.delete(request);
      touch(request);
      response.on('drain', () => touch(request));
    },
  };
}
