import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';

import { listen } from '../testing/test-support.ts';
import { ConnectionLimit } from './connection-limit.ts';

const WORK = 'GET /work HTTP/1.1\r\nHost: localhost\r\n\r\n';
const QUICK = 'GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n';
const FILE = 'GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n';
const HALF_HEAD = 'GET /work HTTP/1.1\r\nHost: loc';
const HALF_BODY = 'POST /work HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf';
const UPGRADE = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** A server that takes three connections: `/quick` is answered at once, `/work` when the test says so. */
async function startServer() {
  const working: ServerResponse[] = [];
  const files: ServerResponse[] = [];
  const { server, port } = await listen((request, response) => {
    if (request.url === '/quick') response.end('quick');
    else if (request.url === '/file') {
      limit.release(request, response);
      Readable.from(Array.from({ length: 500 }, () => Buffer.alloc(2 ** 16))).pipe(response);
      files.push(response);
    } else working.push(response);
  });
  const limit = new ConnectionLimit(server, 3);
  server.on('upgrade', (_, socket) => socket.write('upgraded'));
  const clients: Socket[] = [];
  onTestFinished(() => {
    for (const client of clients) client.destroy();
  });

  /** Resolves when the server has the connection, and what was sent on it. */
  const open = async (sent: string) => {
    const accepted = new Promise((resolve) => void server.once('connection', resolve));
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    const state = { received: '', isClosed: false, client };
    client.on('data', (data) => (state.received += String(data)));
    client.on('error', () => undefined);
    client.on('close', () => (state.isClosed = true));
    await accepted;
    if (sent !== '') await new Promise((resolve) => void client.write(sent, resolve));
    return state;
  };
  const openWork = async (sent: string) => {
    const numWorking = working.length;
    const state = await open(sent);
    await vi.waitFor(() => expect(working).toHaveLength(numWorking + 1));
    return state;
  };
  /** Asks for a file and reads nothing of it. */
  const openFile = async () => {
    const numFiles = files.length;
    const state = await open(FILE);
    state.client.pause();
    await vi.waitFor(() => expect(files[numFiles]?.writableNeedDrain).toBe(true));
    return state;
  };
  return { open, openWork, openFile, working };
}

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 10_000 });

it('closes the connection that has been silent for longest, and answers the newcomer', async () => {
  const { open } = await startServer();
  const silent = [await open(''), await open(HALF_HEAD), await open('')];
  const newcomer = await open(QUICK);
  await until(() => expect(newcomer.received).toContain('quick'));
  await until(() => expect(silent.map(({ isClosed }) => isClosed)).toEqual([true, false, false]));
  const next = await open(QUICK);
  await until(() => expect(next.received).toContain('quick'));
  await until(() => expect(silent.map(({ isClosed }) => isClosed)).toEqual([true, true, false]));
});

it('counts a connection whose request was answered as idle from then on', async () => {
  const { open, openWork, working } = await startServer();
  const worked = await openWork(WORK);
  const silent = await open('');
  const other = await open('');
  working[0]?.end('done');
  await until(() => expect(worked.received).toContain('done'));
  await open('');
  await until(() => expect(silent.isClosed).toBe(true));
  expect([worked.isClosed, other.isClosed]).toEqual([false, false]);
});

it('closes no connection with work under way: the newcomer goes where all of them have', async () => {
  const { open, openWork, working } = await startServer();
  const first = await openWork(WORK);
  const socket = await open(UPGRADE);
  await until(() => expect(socket.received).toBe('upgraded'));
  const second = await openWork(WORK);
  const newcomer = await open('');
  await until(() => expect(newcomer.isClosed).toBe(true));
  for (const response of working) response.end('done');
  await until(() =>
    expect([first, second].map(({ received }) => received.includes('done'))).toEqual([true, true]),
  );
  expect(socket.isClosed).toBe(false);
});

it('counts a request whose body does not come as none', async () => {
  const { open, openWork } = await startServer();
  const slow = await openWork(HALF_BODY);
  await openWork(WORK);
  await openWork(WORK);
  const newcomer = await open(QUICK);
  await until(() => expect(newcomer.received).toContain('quick'));
  await until(() => expect(slow.isClosed).toBe(true));
});

it('closes a connection that reads nothing of its file before one with work, and answers the newcomer', async () => {
  const { open, openWork, openFile } = await startServer();
  const worked = await openWork(WORK);
  const stalled = [await openFile(), await openFile()];
  const newcomer = await open(QUICK);
  await until(() => expect(newcomer.received).toContain('quick'));
  for (const { client } of stalled) client.resume();
  await until(() => expect(stalled.map(({ isClosed }) => isClosed)).toEqual([true, false]));
  expect(worked.isClosed).toBe(false);
});

it('lets a client that reads its file go on, and closes the one that does not', async () => {
  const { open, openFile } = await startServer();
  const reading = await openFile();
  const stalled = [await openFile(), await openFile()];
  reading.client.resume();
  await until(() => expect(reading.received.length).toBeGreaterThan(2 ** 20));
  reading.client.pause();
  const newcomer = await open(QUICK);
  await until(() => expect(newcomer.received).toContain('quick'));
  for (const { client } of stalled) client.resume();
  await until(() => expect(stalled.map(({ isClosed }) => isClosed)).toEqual([true, false]));
  expect(reading.isClosed).toBe(false);
});
