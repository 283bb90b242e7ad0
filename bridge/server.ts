/// <reference lib="esnext.disposable" preserve="true" />
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Bridge } from './bridge.ts';
import { areOrigins, hasMethod, isHost, isText, optionsOf, valueThat } from './base/check-arguments.ts';
import { BridgeError, codeOf, MAX_PORT } from './base/errors.ts';
import { integerIn, type Validators } from '../src/batching/base/validate.ts';
import { STALL_TIMEOUT_MS } from './http/exchange.ts';
import { HttpError } from '../src/protocol/openai/http-error.ts';
import { ConnectionLimit } from './http/connection-limit.ts';
import { holdBody } from './http/read-body.ts';
import { isLoopbackAddress, isLoopbackHost } from './http/loopback.ts';
import { refuseConnection } from './http/refuse-connection.ts';
import type { CommandLineOptions } from './cli/options.ts';
import { serveStaticFiles, type StaticFilesOptions } from './static/static-files.ts';
import { headersTooLarge, notHttp, tooSlow } from './http/http-errors.ts';

/** The files and bridge that `startServer` serves, and its addresses. */
export interface ServerOptions
  extends Pick<CommandLineOptions, 'port' | 'host'>, Omit<StaticFilesOptions, 'headElements' | 'nothingAt'> {
  /** Without a bridge this serves files only, and the page does not ask for one. */
  readonly bridge?: Bridge | undefined;
  /** Limit of open connections for each address; 1024 by default. */
  readonly maxConnections?: number | undefined;
}

/** A server that listens. */
export interface RunningServer extends AsyncDisposable {
  /** On loopback, whatever `host` is: browsers allow WebGPU and storage only to secure origins. */
  readonly url: string;
  /** The port that it has: another one than asked for if that was 0. */
  readonly port: number;
  /** Stops the server and its bridge, and cuts open connections. May be called again. */
  close(): Promise<void>;
  /** As `close()`, at the end of a scope: `await using server = await startServer(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Limits of a request's size, and of the time that it takes to arrive in ms. */
const LIMITS = {
  /** The URL included. */
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
  /** Any other request to upgrade is answered as if it had not asked. */
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
};

const MAX_CONNECTIONS = 1024;

const OPTIONS: Validators<ServerOptions> = {
  port: integerIn({ from: 0, to: MAX_PORT }),
  host: isHost,
  root: isText,
  entry: isText,
  runtime: isText,
  hub: areOrigins,
  policy: isText,
  bridge: valueThat('a Bridge', (value) => hasMethod(value, 'handle')),
  maxConnections: integerIn({ from: 1 }),
};

/**
 * Serves the built page with cross-origin isolation.
 *
 * @returns The server, once every address is bound.
 * @throws BridgeError `PAGE_NOT_BUILT`, `PORT_IN_USE` or `CANNOT_LISTEN`; an error with the code `INVALID_OPTION` or `UNKNOWN_OPTION`.
 */
export async function startServer(given: ServerOptions): Promise<RunningServer> {
  const options = optionsOf('startServer', OPTIONS, ['host', 'port', 'root'], given);
  const { bridge, maxConnections = MAX_CONNECTIONS } = options;
  const serveFile = serveStaticFiles({
    ...options,
    headElements: bridge?.headElements ?? '',
    nothingAt: (path) => bridge?.nothingAt(path) ?? HttpError.notFound(path),
  });
  const create = (): Server => {
    const server = createServer(LIMITS);
    const limit = new ConnectionLimit(server, maxConnections);
    const answer: RequestListener = (request, response) => {
      const next = (): void => {
        // Cuts a client that does not read the file. Requests for work have limits of their own.
        request.socket.setTimeout(STALL_TIMEOUT_MS);
        limit.release(request, response);
        serveFile(request, response);
      };
      if (bridge) bridge.handle(request, response, next);
      else next();
    };
    return server
      .on('request', answer)
      .on('checkContinue', (request, response) => {
        holdBody(request, response);
        server.emit('request', request, response);
      })
      .on('clientError', refuseClient)
      .on('upgrade', (request, socket, head) => {
        if (!bridge?.upgrade(request, socket, head)) refuseConnection(socket, 400);
      });
  };
  const servers = await listenOnAll(options.host, options.port, create);
  const { port } = addressOf(servers[0]);
  const host = isLoopbackHost(options.host) ? options.host : 'localhost';
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const close = async (): Promise<void> => {
    await bridge?.close();
    await closeAll(servers);
  };
  return { url, port, close, [Symbol.asyncDispose]: close };
}

/** On a machine without ::1, `localhost` means 127.0.0.1 alone. */
async function listenOnAll(
  host: string,
  wantedPort: number,
  create: () => Server,
): Promise<readonly [Server, ...Server[]]> {
  const first = await listen(create(), host === 'localhost' ? '127.0.0.1' : host, wantedPort);
  const servers: [Server, ...Server[]] = [first];
  const { address, port } = addressOf(first);
  try {
    for (const other of loopbackBeside(host, address)) {
      try {
        servers.push(await listen(create(), other, port));
      } catch (error) {
        if (!isMissingAddress(error)) throw error;
      }
    }
    return servers;
  } catch (error) {
    await closeAll(servers);
    throw error;
  }
}

/** More addresses, so that the page has one on loopback. */
function loopbackBeside(host: string, address: string): readonly string[] {
  if (host === 'localhost') return ['::1'];
  const hasLoopback = isLoopbackAddress(address) || address === '0.0.0.0' || address === '::';
  return hasLoopback ? [] : ['127.0.0.1', '::1'];
}

/** @throws BridgeError. */
async function listen(server: Server, host: string, port: number): Promise<Server> {
  try {
    await once(server.listen({ host, port }), 'listening');
    return server;
  } catch (error) {
    throw BridgeError.cannotListen(host, port, error);
  }
}

/** Refuses a request that is not HTTP, or did not arrive in time. */
function refuseClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error.code);
  refuseConnection(socket, refusal.status, JSON.stringify(refusal));
}

function refusalOf(code: string | undefined): HttpError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow();
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge(LIMITS.maxHeaderSize);
  return notHttp();
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The server listens on no port');
  return address;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
  for (const server of servers) server.closeAllConnections();
  await Promise.all(closed);
}

/** Whether listening failed because the machine does not have the address. */
function isMissingAddress(error: unknown): boolean {
  const code = error instanceof BridgeError ? codeOf(error.cause) : undefined;
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
}
