import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { setDeadline, systemClock } from '../../src/batching/base/clock.ts';
import { TabserveClient } from '../../src/client/client.ts';
import { AnswerWatch } from '../../src/client/links/answer-watch.ts';
import { fromWireText, toWireText } from '../../src/protocol/wire-text.ts';
import { createClientId } from '../../src/protocol/ids.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/wire.ts';
import type { ClientMessage } from '../../src/protocol/client-messages.ts';
import { DEFAULT_POLICY, type KnobSettings } from '../../src/protocol/status.ts';
import type { Link, LinkListener, Outgoing } from '../../src/client/links/link.ts';
import { parseWorkerMessage } from '../../src/protocol/worker-messages.ts';
import { OwnBrowser, type TabOwner } from './own-browser.ts';
import { NoTabError } from './no-tab-error.ts';
import type { TabLinkOptions } from './tab-link-options.ts';
import { BRIDGE_SUBPROTOCOL } from '../../src/protocol/bridge-names.ts';
import { untilAborted } from '../../src/platform/until-aborted.ts';
import { NoModelError } from '../../src/protocol/errors/model.ts';
import type { ModelInfo } from '../../src/protocol/models.ts';

/** A worker's WebSocket. */
interface TabSocket {
  readonly socket: WebSocket;
  readonly owner: TabOwner;
}

/**
 * The bridge is one more client of the worker: its link is the WebSocket that the worker opened. If several browsers connect,
 * the first one serves. When it is lost, or its process is suspended while another one is there, the next one continues its requests.
 */
export class TabLink implements Link {
  readonly isolationReason = '';
  readonly serve: TabserveClient;
  readonly #options: TabLinkOptions;
  readonly #clientId = createClientId();
  /** In the order of connection. */
  readonly #sockets: TabSocket[] = [];
  /** Older than any knobs that somebody has turned. */
  readonly #firstKnobs: KnobSettings;
  /** The last knobs of the bridge's own browser, to restore after its crash. */
  #ownKnobs: KnobSettings;
  #listener: LinkListener | undefined;
  /** A browser answers the pings of a suspended page's socket, so the worker itself is asked. */
  readonly #watch = new AnswerWatch({
    clock: systemClock,
    patienceMs: () => (this.#sockets.length > 1 ? this.#listener?.patienceMs : undefined),
    ask: () => this.#send({ type: 'hello' }),
    onSilence: () => this.#sockets[0]?.socket.terminate(),
  });
  #cancelTimer: (() => void) | undefined;

  constructor(options: TabLinkOptions) {
    this.#options = options;
    const hasKnobs = Object.keys(options.knobs ?? {}).length > 0;
    const policy = { ...DEFAULT_POLICY, ...options.knobs };
    // A worker whose knobs nobody has turned has revision 0, and takes over only higher ones.
    this.#firstKnobs = { revision: hasKnobs ? 1 : 0, policy, deployments: [] };
    this.#ownKnobs = this.#firstKnobs;
    const open = (listener: LinkListener): Link => {
      this.#listener = listener;
      return this;
    };
    this.serve = new TabserveClient(this.#clientId, open, options.hub);
    this.#awaitTab();
  }

  get isServed(): boolean {
    return this.#sockets.length > 0;
  }

  attach(socket: WebSocket, owner: TabOwner): void {
    this.#sockets.push({ socket, owner });
    socket.on('message', (data, isBinary) => {
      if (socket !== this.#sockets[0]?.socket || isBinary || !Buffer.isBuffer(data)) return;
      const message = parseWorkerMessage(fromWireText(data.toString()));
      if (!message) return;
      this.#watch.hear();
      if (owner === 'bridge' && 'status' in message) this.#noteOwnKnobs(message.status.knobs);
      this.#listener?.onMessage(message);
    });
    // `close` follows every error.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#detach(socket));
    if (socket === this.#sockets[0]?.socket) this.#begin();
    else this.#watch.start();
  }

  post(message: Outgoing): void {
    this.#send(message);
    this.#watch.start();
  }

  #send(message: Outgoing): void {
    const signed = {
      version: PROTOCOL_VERSION,
      clientId: this.#clientId,
      ...(message.type === 'hello' ? this.#hello() : message),
    } satisfies ClientMessage;
    this.#sockets[0]?.socket.send(toWireText(signed));
  }

  /** `serve.close()` calls it, and ends outstanding requests. */
  close(): void {
    this.#cancelTimer?.();
    this.#watch.stop();
    for (const { socket } of this.#sockets) socket.terminate();
  }

  /** A new browser of the bridge continues with the knobs of the one before. A user's tabs keep their own. */
  #hello(): Outgoing {
    const isOwn = this.#sockets[0]?.owner === 'bridge';
    return { type: 'hello', knobs: isOwn ? this.#ownKnobs : this.#firstKnobs };
  }

  /** A new worker's first status may come before it has taken over the knobs of the one before. */
  #noteOwnKnobs(knobs: KnobSettings): void {
    if (knobs.revision >= this.#ownKnobs.revision) this.#ownKnobs = knobs;
  }

  #begin(): void {
    this.#cancelTimer?.();
    this.#listener?.onOpen();
  }

  #detach(socket: WebSocket): void {
    const index = this.#sockets.findIndex((attached) => attached.socket === socket);
    this.#sockets.splice(index, 1);
    if (index > 0 || this.serve.status().state === 'closed') return;
    this.#listener?.onInterrupted();
    if (this.isServed) this.#begin();
    else this.#awaitTab();
  }

  #awaitTab(): void {
    this.#cancelTimer = setDeadline(systemClock, this.#options.graceMs, () =>
      this.#listener?.onFailure(NoTabError.at(this.#options.url(), this.#options.isHeadless)),
    );
  }
}

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

type Serving = Pick<TabserveClient, 'status' | 'ready'>;

/**
 * The model that generates, once it does.
 *
 * @throws NoModelError where only encoders or deployments serve; as `modelIfAny`.
 */
export async function servedModel(serve: Serving, signal: AbortSignal): Promise<ModelInfo> {
  const model = await modelIfAny(serve, signal);
  if (!model) throw NoModelError.of();
  return model;
}

/**
 * The model that generates, once the tab serves; undefined if only encoders or deployments do.
 *
 * @throws Whatever keeps the tab from serving; the signal's reason when it aborts.
 */
export async function modelIfAny(serve: Serving, signal: AbortSignal): Promise<ModelInfo | undefined> {
  const { state, model } = serve.status();
  // The last status still names a model that has failed or lost its tab.
  if (state === 'ready') return model;
  return (await untilAborted(serve.ready(), signal)).model;
}
