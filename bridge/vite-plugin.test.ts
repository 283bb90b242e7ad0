import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createServer, type ViteDevServer } from 'vite';

import { ask, startWorker, stubWebSocket } from './testing/test-support.ts';
import { bridgePlugin } from './vite-plugin.ts';

let root: string;
let server: ViteDevServer;
let url: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tabserve-vite-'));
  await writeFile(join(root, 'index.html'), '<!doctype html><html><head></head><body></body></html>');
  server = await createServer({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins: [bridgePlugin()],
    server: { port: 0 },
  });
  await server.listen();
  url = new URL(server.resolvedUrls?.local[0] ?? '').origin;
});

afterEach(async () => {
  await server.close();
  await rm(root, { recursive: true });
});

it('gives the development server the same endpoints, and its page the mark', async () => {
  expect(await (await fetch(url)).text()).toContain('<meta name="tabserve-bridge" content="/bridge/">');
  stubWebSocket(url);
  startWorker(url, 'A').release();
  expect(await (await ask(url, 1)).json()).toEqual({ by: 'A', input: 1 });
  expect(await (await fetch(`${url}/version`)).json()).toEqual({ version: expect.any(String) });
  expect((await fetch(`${url}/healthz`, { method: 'HEAD' })).status).toBe(503);
  expect((await fetch(`${url}/adder?number=1`, { headers: { Origin: 'http://evil.example' } })).status).toBe(
    403,
  );
});

it("leaves Vite's own WebSocket to Vite", async () => {
  stubWebSocket(url);
  const socket = new WebSocket(url.replace('http', 'ws'), ['vite-ping']);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.close();
});
