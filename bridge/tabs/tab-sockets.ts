import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { setDeadline, systemClock } from '../../src/batching/base/clock.ts';
import { BRIDGE_SUBPROTOCOL } from '../../src/protocol/bridge-names.ts';
import { OwnBrowser, type TabOwner } from './own-browser.ts';

/** More than a full context with log probabilities takes. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;

/** A connection is cut if a ping has no answer before the next ping, because a sleeping machine closes no connections. */
const PING_INTERVAL_MS = 30_000;

/** Accepts the WebSockets of workers that know this run's token and speak this bridge's version of the protocol. */
export class TabSockets {
  /** Only for pages of the bridge's own origin. */
  readonly token = randomBytes(32).toString('hex');
  readonly ownBrowser = new OwnBrowser();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: () => BRIDGE_SUBPROTOCOL,
  });
  readonly #onSocket: (socket: WebSocket, owner: TabOwner) => void;

  constructor(onSocket: (socket: WebSocket, owner: TabOwner) => void) {
    this.#onSocket = onSocket;
  }

  /** Whether the request offers this bridge's subprotocol and token. */
  isAuthorised({ headers }: IncomingMessage): boolean {
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    return offered.includes(BRIDGE_SUBPROTOCOL) && offered.some((name) => this.#isToken(name));
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      keepAlive(opened);
      this.#onSocket(opened, this.ownBrowser.ownerOf(request));
    });
  }

  #isToken(text: string): boolean {
    const [given, expected] = [Buffer.from(text), Buffer.from(this.token)];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

function keepAlive(socket: WebSocket): void {
  let isAnswered = true;
  socket.on('pong', () => (isAnswered = true));
  let cancelTimer: (() => void) | undefined;
  const ping = (): void => {
    if (!isAnswered) {
      socket.terminate();
      return;
    }
    isAnswered = false;
    socket.ping();
    cancelTimer = setDeadline(systemClock, PING_INTERVAL_MS, ping);
  };
  socket.on('close', () => cancelTimer?.());
  ping();
}
