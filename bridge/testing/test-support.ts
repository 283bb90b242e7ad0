import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { BridgedOutbox } from '../../src/worker/serving/tab-messages.ts';
import { keepBridged } from '../../src/worker/serving/bridge/bridge-connection.ts';
import { defineDeployment } from '../../src/protocol/deployment.ts';
import { createServeHost } from '../../src/worker/test-support.ts';
import { ServeWorker } from '../../src/worker/serving/serve-worker.ts';
import { Bridge, type BridgeOptions } from '../bridge.ts';
import { startServer } from '../server.ts';

/** A page's side of the bridge, in Node, for the tests of the bridge; production code never imports this file. */

/** A server on a free port; ends with the test. */
export async function listen(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { server, port, url: `http://127.0.0.1:${port}`, close };
}

/** An address that refuses every connection. */
export async function refusingUrl(): Promise<string> {
  const { url, close } = await listen(() => {});
  close();
  return url;
}

/** A bridge on a free port, without a page. It answers requests for a page with 418, and closes with the test. */
export async function mountBridge(options: Partial<BridgeOptions> = {}) {
  const bridge = new Bridge({ host: 'localhost', url: () => '', graceMs: 0, ...options });
  onTestFinished(() => bridge.close());
  const { port, url } = await listen((request, response) =>
    bridge.handle(request, response, () => response.writeHead(418).end()),
  );
  return { bridge, port, url };
}

/** A folder of these files; ends with the test. */
export async function createFolder(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'tabserve-bridge-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  return root;
}

/** A bridge with its page, on a free port. Ends with the test. */
export async function startBridge(options: Partial<BridgeOptions> = {}) {
  let url = '';
  const bridge = new Bridge({ host: 'localhost', url: () => url, ...options });
  const root = await createFolder({ 'index.html': '<!doctype html><html><head></head><body></body></html>' });
  const server = await startServer({ host: 'localhost', port: 0, root, bridge });
  onTestFinished(() => server.close());
  ({ url } = server);
  return { bridge, server, root, url, port: server.port };
}

/** Every deployment of the bridge's worker answers as `remote` does. */
export function answerWith(
  { serve }: Bridge,
  remote: (input: unknown, options: { readonly signal?: AbortSignal }) => unknown,
): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- routes ask nothing else of a handle
  vi.spyOn(serve, 'getHandle').mockReturnValue({ remote } as never);
}

/** Answers calls of several inputs. */
export function answerAllWith({ serve }: Bridge, answer: (input: unknown) => Promise<unknown>): void {
  const remoteAll = (inputs: readonly unknown[]) => inputs.map((input) => ({ result: () => answer(input) }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- routes ask nothing else of a handle
  vi.spyOn(serve, 'getHandle').mockReturnValue({ remoteAll } as never);
}

/** Makes WebSockets send an Origin, as a page's worker does and Node does not. Returns the sockets in order of opening. */
export function stubWebSocket(origin: string): WebSocket[] {
  const opened: WebSocket[] = [];
  class PageWebSocket extends WebSocket {
    constructor(address: string | URL, protocols: string[]) {
      super(address, { protocols, headers: { origin } });
      opened.push(this);
    }
  }
  vi.stubGlobal('WebSocket', PageWebSocket);
  return opened;
}

/** A worker with one deployment, whose batches end when they are released. */
export function startWorker(url: string, name: string) {
  const gate = Promise.withResolvers<void>();
  const received: unknown[] = [];
  const deployment = defineDeployment({
    name: 'gated',
    checkInput: (input) => input,
    async handler(inputs) {
      received.push(...inputs);
      await gate.promise;
      return inputs.map((input) => ({ by: name, input }));
    },
  });
  const outbox = new BridgedOutbox({ toAll: () => {}, toClient: () => {} });
  const worker = new ServeWorker([deployment], outbox, createServeHost());
  const loads: object[] = [];
  const receive = worker.receive.bind(worker);
  vi.spyOn(worker, 'receive').mockImplementation((message) => {
    if (message.type === 'load-model') loads.push(message);
    else receive(message);
  });
  void keepBridged(`${url}/bridge/`, worker, outbox);
  return { worker, received, loads, release: () => gate.resolve() };
}

/** The deployment of that worker, over HTTP. */
export function ask(url: string, input: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/deployments/gated`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input }),
    ...init,
  });
}
