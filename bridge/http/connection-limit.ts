import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Limits the connections of a server. A new connection beyond the limit closes the one that has been idle for longest. If
 * none is idle, the new one is closed. An idle connection has no complete request for work under way.
 */
export class ConnectionLimit {
  readonly #maxConnections: number;
  /** The requests for work of each connection. The connection that became idle or last read first comes first. */
  readonly #requestsOf = new Map<Duplex, Set<IncomingMessage>>();

  constructor(server: Server, maxConnections: number) {
    this.#maxConnections = maxConnections;
    server.on('connection', (socket) => this.#admit(socket));
    // Before any answer may release it.
    server.prependListener('request', (request, response) => {
      const requests = this.#begin(request);
      response.once('close', () => {
        if (requests?.delete(request)) this.#touch(request);
      });
    });
    // An open WebSocket is never idle.
    server.on('upgrade', (request) => this.#begin(request));
  }

  /** The request is no work: its connection counts as idle, from the time at which it last read. */
  release(request: IncomingMessage, response: ServerResponse): void {
    this.#requestsOf.get(request.socket)?.delete(request);
    this.#touch(request);
    response.on('drain', () => this.#touch(request));
  }

  #admit(socket: Socket): void {
    if (this.#requestsOf.size >= this.#maxConnections && !this.#closeOldest()) {
      socket.destroy();
      return;
    }
    this.#requestsOf.set(socket, new Set());
    socket.once('close', () => this.#requestsOf.delete(socket));
  }

  /** @returns Whether a connection was idle. */
  #closeOldest(): boolean {
    const [oldest] =
      [...this.#requestsOf].find(([, requests]) => [...requests].every(({ complete }) => !complete)) ?? [];
    if (!oldest) return false;
    this.#requestsOf.delete(oldest);
    oldest.destroy();
    return true;
  }

  #begin(request: IncomingMessage): Set<IncomingMessage> | undefined {
    return this.#requestsOf.get(request.socket)?.add(request);
  }

  /** An idle connection goes to the end of the queue. */
  #touch({ socket }: IncomingMessage): void {
    const requests = this.#requestsOf.get(socket);
    if (requests?.size !== 0) return;
    this.#requestsOf.delete(socket);
    this.#requestsOf.set(socket, requests);
  }
}
