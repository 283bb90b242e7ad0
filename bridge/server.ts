import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Bridge } from './bridge.ts';
import { BridgeError } from './errors.ts';
import { HttpError } from './http/http-error.ts';
import { limitConnections } from './http/connection-limit.ts';
import { isLoopbackAddress, isLoopbackHost } from './http/loopback.ts';
import { refuseConnection, type RefusalStatus } from './http/refuse-connection.ts';
import { STALL_TIMEOUT_MS } from './http/stall.ts';
import { serveStaticFiles } from './static-files.ts';

export interface ServerOptions {
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** The server also listens on loopback. `localhost` means both of its addresses, 127.0.0.1 and ::1. */
  readonly host: string;
  /** Folder of the built page. */
  readonly root: string;
  /** Origins that the page may fetch models from: a hub, and the origins that it redirects to. Default: huggingface.co. */
  readonly hub?: readonly string[];
  /** Without a bridge this serves files only, and the page does not look for one. */
  readonly bridge?: Bridge;
  /** The page's Content-Security-Policy. Default: that of the built page. */
  readonly policy?: string;
  /** Limit of open connections for each address; 1024 by default. */
  readonly maxConnections?: number;
}

export interface RunningServer {
  /** On loopback, whatever `host` is: browsers allow WebGPU and storage only to secure origins. */
  readonly url: string;
  readonly port: number;
  /** Idempotent; open connections are cut. */
  close(): Promise<void>;
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

const HEADERS_TOO_LARGE = `The URL and the headers are larger than ${LIMITS.maxHeaderSize} bytes: send a long prompt in the body of a POST, as \`curl -d\` does.`;

const MAX_CONNECTIONS = 1024;

/** The options of one server; there is one for each address. */
interface Listening {
  readonly port: number;
  readonly handler: RequestListener;
  readonly bridge: Bridge | undefined;
  readonly maxConnections: number;
}

/** Serves the built page with cross-origin isolation; resolves once every address is bound. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { root, hub, policy, bridge, port: wantedPort, maxConnections = MAX_CONNECTIONS } = options;
  const serveFile = serveStaticFiles({ root, hub, policy, marks: bridge?.pageMarks ?? '' });
  const handler: RequestListener = (request, response) => {
    const next = (): void => {
      // Cuts a client that does not read the file. Requests for work have limits of their own.
      request.socket.setTimeout(STALL_TIMEOUT_MS);
      serveFile(request, response);
    };
    if (bridge) bridge.handle(request, response, next);
    else next();
  };
  const servers = await listenOnAll(options.host, { port: wantedPort, handler, bridge, maxConnections });
  const port = portOf(servers[0]);
  const host = isLoopbackHost(options.host) ? options.host : 'localhost';
  const closeBoth = async (): Promise<void> => {
    bridge?.close();
    await closeAll(servers);
  };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, close: closeBoth };
}

/** On a machine without ::1, `localhost` means 127.0.0.1 alone. */
async function listenOnAll(host: string, listening: Listening): Promise<readonly [Server, ...Server[]]> {
  const first = await listen(host === 'localhost' ? '127.0.0.1' : host, listening);
  const servers: [Server, ...Server[]] = [first];
  try {
    for (const address of loopbackBeside(host, first)) {
      const other = await listen(address, { ...listening, port: portOf(first) }).catch((error: unknown) => {
        if (!isMissingAddress(error)) throw error;
      });
      if (other) servers.push(other);
    }
    return servers;
  } catch (error) {
    await closeAll(servers);
    throw error;
  }
}

/** More addresses, so that the page has one on loopback. */
function loopbackBeside(host: string, first: Server): readonly string[] {
  if (host === 'localhost') return ['::1'];
  const { address } = addressOf(first);
  const hasLoopback = isLoopbackAddress(address) || address === '0.0.0.0' || address === '::';
  return hasLoopback ? [] : ['127.0.0.1', '::1'];
}

/** @throws BridgeError. */
async function listen(host: string, { port, handler, bridge, maxConnections }: Listening): Promise<Server> {
  const server = createServer(LIMITS, handler);
  limitConnections(server, maxConnections);
  server.on('upgrade', (request, socket, head) => {
    if (!bridge?.upgrade(request, socket, head)) refuseConnection(socket, 400);
  });
  server.on('clientError', refuseClient);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ host, port }, resolve);
  try {
    await promise;
  } catch (error) {
    throw BridgeError.cannotListen(host, port, error);
  }
  server.off('error', reject);
  return server;
}

/** Refuses what is not an HTTP request, or did not arrive in time. */
function refuseClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, refusal] = refusalOf(error.code);
  refuseConnection(socket, status, JSON.stringify(refusal));
}

function refusalOf(code: string | undefined): readonly [RefusalStatus, HttpError] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return [408, new HttpError(408, 'The request took too long to arrive.', { code })];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, new HttpError(431, HEADERS_TOO_LARGE, { code })];
  return [400, new HttpError(400, 'This is no HTTP request.', { code: 'BAD_REQUEST' })];
}

function portOf(server: Server): number {
  return addressOf(server).port;
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The server listens on no port');
  return address;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(close));
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

/** Whether listening failed because the machine does not have the address. */
function isMissingAddress(error: unknown): boolean {
  const cause = error instanceof BridgeError ? error.cause : undefined;
  if (!(cause instanceof Error && 'code' in cause)) return false;
  return cause.code === 'EADDRNOTAVAIL' || cause.code === 'EAFNOSUPPORT';
}
