import { systemClock } from '../../../batching/base/clock.ts';
import type { ClientId } from '../../../protocol/ids.ts';
import { parseBridgeMessage } from '../../../protocol/client-messages.ts';
import type { ServeWorker } from '../serve-worker.ts';
import type { BridgedOutbox } from '../tab-messages.ts';
import { BRIDGE_SUBPROTOCOL, SOCKET_PATH, TOKEN_FORM, TOKEN_PATH } from '../../../protocol/bridge-names.ts';
import { fromWireText, toWireText } from '../../../protocol/wire-text.ts';

/** The part of the worker that the bridge uses. */
type BridgedWorker = Pick<ServeWorker, 'receive' | 'forget'>;

const FIRST_PAUSE_MS = 250;
/** A restarted bridge waits for its tab at most this long. */
const LONGEST_PAUSE_MS = 5000;

/**
 * Keeps a WebSocket to the bridge, which is a client of the worker. Without a bridge, it retries after pauses that double and vary
 * at random by up to half.
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

/** Fetches the token each time, because every run of the bridge has a new one. */
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
    // A policy of the page or the browser forbids the connection.
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

/** Resolves when the socket has closed. The bridge's requests are cancelled then, like those of a closed tab. */
function serve(socket: WebSocket, worker: BridgedWorker, outbox: BridgedOutbox): Promise<void> {
  let bridgeId: ClientId | undefined;
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const message = parseBridgeMessage(fromWireText(data));
      if (!message || message.clientId !== (bridgeId ?? message.clientId)) return;
      const { clientId } = message;
      // A closed WebSocket drops messages.
      if (bridgeId === undefined)
        outbox.bridge = { clientId, send: (reply) => socket.send(toWireText(reply)) };
      bridgeId = clientId;
      worker.receive(message);
    });
    socket.addEventListener('close', () => {
      if (bridgeId !== undefined) worker.forget(bridgeId);
      resolve();
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.setTimer(ms, resolve));
}
