import { systemClock } from '../../../batching/clock.ts';
import type { ClientId, ClientMessage, WorkerMessage } from '../../protocol/protocol.ts';
import { parseBridgeMessage } from '../../protocol/client-messages.ts';
import type { BridgeClient, BridgedOutbox } from './bridged-outbox.ts';
import { BRIDGE_SUBPROTOCOL, SOCKET_PATH, TOKEN_FORM, TOKEN_PATH } from '../../protocol/bridge-names.ts';
import { fromWireText, toWireText } from '../../protocol/wire-text.ts';

/** What the bridge wants of that which all tabs hear: it draws no charts. */
const OVERHEARD: ReadonlySet<WorkerMessage['type']> = new Set(['serving', 'status']);

/** What this needs of the worker. */
export interface BridgedWorker {
  receive(message: ClientMessage): void;
  forget(clientId: ClientId): void;
}

const FIRST_PAUSE_MS = 250;
/** A bridge that is started again is served this soon, whenever it was stopped. */
const LONGEST_PAUSE_MS = 5000;

/**
 * Keeps a WebSocket to the bridge, which is one more client: what comes over it goes to the worker. One that is gone, or
 * that is not there yet, is looked for again, after pauses that double and leave up to half of them to chance.
 *
 * @param url The bridge's folder, ending in `/`.
 */
export async function keepBridged(url: string, worker: BridgedWorker, outbox: BridgedOutbox): Promise<never> {
  for (let numFailures = 0; ; numFailures += 1) {
    const socket = await openSocket(url);
    if (socket) {
      await serve(socket, worker, outbox);
      numFailures = 0;
    }
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** numFailures, LONGEST_PAUSE_MS) * (1 - Math.random() / 2));
  }
}

/** The token is another one in each run of the bridge, so it is asked for each time. */
async function openSocket(url: string): Promise<WebSocket | undefined> {
  const token = await fetchToken(url);
  if (token === undefined) return undefined;
  const address = new URL(SOCKET_PATH, url.replace(/^http/, 'ws'));
  try {
    const socket = new WebSocket(address, [BRIDGE_SUBPROTOCOL, token]);
    return await new Promise((resolve) => {
      socket.addEventListener('open', () => resolve(socket));
      socket.addEventListener('close', () => resolve(undefined));
    });
  } catch {
    // The page's policy, or the browser's, lets none out.
    return undefined;
  }
}

async function fetchToken(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(new URL(TOKEN_PATH, url), { cache: 'no-store' });
    const token = response.ok ? await response.text() : '';
    return TOKEN_FORM.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves when the socket has closed: what the bridge had asked for is cancelled, as that of a tab which is gone. */
function serve(socket: WebSocket, worker: BridgedWorker, outbox: BridgedOutbox): Promise<void> {
  let bridgeId: ClientId | undefined;
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const message = parseBridgeMessage(fromWireText(data));
      if (!message || message.clientId !== (bridgeId ?? message.clientId)) return;
      if (bridgeId === undefined) outbox.bridge = createClient(message.clientId, socket);
      bridgeId = message.clientId;
      worker.receive(message);
    });
    socket.addEventListener('close', () => {
      if (bridgeId !== undefined) worker.forget(bridgeId);
      resolve();
    });
  });
}

/** A WebSocket that has closed drops what it is given. */
function createClient(clientId: ClientId, socket: WebSocket): BridgeClient {
  const send = (message: WorkerMessage): void => socket.send(toWireText(message));
  return {
    clientId,
    send,
    overhear(message) {
      if (OVERHEARD.has(message.type)) send(message);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.setTimer(ms, resolve));
}
