import { readdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createFolder, listen } from '../testing/test-support.ts';
import { serveStaticFiles, sendInTurns } from './static-files.ts';
import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

/** A packed page: its own scripts, and the runtime's files elsewhere under their own names. */
async function servePackedPage({
  size = 0,
  page = '<!doctype html>',
  headElements = '',
} = {}): Promise<string> {
  const folder = await createFolder({
    'dist/index.html': page,
    'dist/assets/digits.txt': '0123456789',
    'dist/assets/lost.txt': 'lost',
    'onnxruntime/ort-wasm-simd-threaded.jspi.wasm': size === 0 ? 'the runtime' : Buffer.alloc(size),
  });
  const [root, runtime] = [join(folder, 'dist'), join(folder, 'onnxruntime')];
  const serveFile = serveStaticFiles({ root, runtime, headElements });
  await rm(join(root, 'assets', 'lost.txt'));
  return (await listen(serveFile)).url;
}

it('a page that was packed without the runtime’s files gets them by their hashed names', async () => {
  const url = await servePackedPage();
  const response = await fetch(`${url}/assets/ort-wasm-simd-threaded.jspi-CZzFqCHi.wasm`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/wasm');
  expect(response.headers.get('cache-control')).toContain('immutable');
  expect(await response.text()).toBe('the runtime');
});

it.each([
  '/assets/ort-wasm-simd-threaded-CZzFqCHi.wasm',
  '/assets/page-CZzFqCHi.js',
  '/ort-wasm-simd-threaded.jspi.wasm',
])('and no other file of that folder: %s', async (path) => {
  const url = await servePackedPage();
  expect((await fetch(url + path)).status).toBe(404);
});

it.each([
  ['<!DOCTYPE html>\n<html lang="en">\n<head prefix="x">', '<title>A</title>'],
  ['<!doctype html>\n<html>', '<body></body>'],
  ['<!doctype html>', '<script src="/app.js"></script>'],
  ['', '<p>A text</p>'],
])('a page that begins with %j has the server’s elements first in its head', async (start, rest) => {
  const url = await servePackedPage({ page: start + rest, headElements: '<meta name="a">' });
  expect(await (await fetch(url)).text()).toBe(`${start}\n    <meta name="a">${rest}`);
});

it.each([
  ['a page with one of its own', '<!doctype html>', 'the page’s own'],
  ['a page for static hosts', '<head><meta name="a" data-static-host=""></head>', 'unregister'],
])('%s: the service worker of the root', async (_, page, expected) => {
  const root = await createFolder({ 'index.html': page, 'service-worker.js': '// the page’s own' });
  const { url } = await listen(serveStaticFiles({ root, headElements: '' }));
  const response = await fetch(`${url}/service-worker.js?v=1`);
  expect(response.headers.get('content-type')).toContain('javascript');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(await response.text()).toContain(expected);
});

it('where the root has no service worker, one that removes those of other servers', async () => {
  const response = await fetch(`${await servePackedPage()}/service-worker.js`);
  expect(await response.text()).toContain('unregister');
});

/** Number of `.wasm` files that this process has open. */
function numOpenFiles(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith('jspi.wasm');
    } catch {
      return false;
    }
  }).length;
}

it('a client that leaves in the middle of a file leaves it closed', async () => {
  const url = await servePackedPage({ size: 2 ** 25 });
  const leave = new AbortController();
  const path = '/assets/ort-wasm-simd-threaded.jspi-CZzFqCHi.wasm';
  const response = await fetch(url + path, { signal: leave.signal });
  expect(response.status).toBe(200);
  expect(numOpenFiles()).toBe(1);
  leave.abort();
  await vi.waitFor(() => expect(numOpenFiles()).toBe(0));
});

it.each([
  ['bytes=2-4', 206, '234'],
  ['bytes=7-', 206, '789'],
  ['bytes=20-', 416, ''],
  ['bytes=3-1', 200, '0123456789'],
  ['bytes=-2', 200, '0123456789'],
  ['bytes=0-9999999999999999999999', 200, '0123456789'],
  ['bytes=0-1,4-5', 200, '0123456789'],
])('answers the range %s of a file with %i %s', async (range, status, text) => {
  const url = await servePackedPage();
  const answer = await fetch(`${url}/assets/digits.txt`, { headers: { range } });
  expect(answer.status).toBe(status);
  expect(await answer.text()).toBe(text);
});

it('cuts the answer of a file that has gone since the start, and serves on', async () => {
  const url = await servePackedPage();
  await expect(fetch(`${url}/assets/lost.txt`)).rejects.toThrow('fetch failed');
  expect((await fetch(`${url}/assets/digits.txt`)).status).toBe(200);
});

it.each([
  ['../secret.html', 'INVALID_ARGUMENT'],
  ['../outside.txt', 'INVALID_ARGUMENT'],
  ['model.gguf', 'INVALID_ARGUMENT'],
  ['folder.html', 'PAGE_NOT_BUILT'],
  ['missing.html', 'PAGE_NOT_BUILT'],
])('a page is an HTML file in the root, and %s is none', async (entry, code) => {
  const folder = await createFolder({
    'secret.html': '<p>',
    'outside.txt': '',
    'dist/model.gguf': 'GGUF',
    'dist/folder.html/a.html': '<p>',
  });
  const serve = (): unknown => serveStaticFiles({ root: join(folder, 'dist'), entry, headElements: '' });
  expect(serve).toThrow(expect.objectContaining({ code, message: expect.stringContaining(entry) }));
});

it('the page has its elements under each path that leads to it', async () => {
  const root = await createFolder({ 'sub/app.html': '<p>A text</p>' });
  const serveFile = serveStaticFiles({ root, entry: './sub/app.html', headElements: '<meta>' });
  const { url } = await listen(serveFile);
  expect(await (await fetch(`${url}/sub/app.html`)).text()).toContain('<meta>');
});

it.each([
  ['/', 'index'],
  ['/index.html?a=b', 'index'],
  ['/admin.html', 'admin'],
  ['/admin', 'admin'],
  ['/shop/', 'shop'],
  ['/shop', 'shop'],
  ['/shop/a%20b.html', 'a b'],
])('each page of an app has its elements, so that any may be opened first: %s', async (path, text) => {
  const root = await createFolder({
    'index.html': '<head></head>index',
    'admin.html': '<head></head>admin',
    'shop/index.html': '<head></head>shop',
    'shop/a b.html': '<head></head>a b',
  });
  const { url } = await listen(serveStaticFiles({ root, headElements: '<meta>' }));
  const answer = await fetch(url + path);
  expect(answer.headers.get('content-type')).toContain('text/html');
  expect((await answer.text()).replace(/\s+/, '')).toBe(`<head><meta></head>${text}`);
});

it('a file without the ending of a page comes as it is, before a page of its name', async () => {
  const root = await createFolder({
    'index.html': '',
    note: '<head></head>note',
    'note.html': '<head></head>page',
    '.hidden.html': '<head></head>',
  });
  const { url } = await listen(serveStaticFiles({ root, headElements: '<meta>' }));
  expect(await (await fetch(`${url}/note`)).text()).toBe('<head></head>note');
  expect((await fetch(`${url}/.hidden.html`)).status).toBe(404);
});

it('a root without the page names those that it has', async () => {
  const root = await createFolder({ 'admin.html': '', 'shop/index.html': '' });
  const serve = (): unknown => serveStaticFiles({ root, headElements: '' });
  expect(serve).toThrow(
    /^There is no index\.html in .*: name a page there with --entry, such as (admin|shop).*\.html, \w+.*\.html\.$/,
  );
});

it('a root that is a file is refused with its remedy', async () => {
  const root = join(await createFolder({ 'index.html': '' }), 'index.html');
  const serve = (): unknown => serveStaticFiles({ root, headElements: '' });
  expect(serve).toThrow(expect.objectContaining({ code: 'PAGE_NOT_BUILT' }));
});

const NUM_FILES = 40;
const PIECES = ['a', 'b', 'c'];

/** Keeps what it gets. */
function createResponse(written: string[]): Writable {
  return new Writable({
    write(piece, _encoding, done) {
      written.push(String(piece));
      done();
    },
  });
}

it('a turn of the event loop, which accepts one connection, sends one piece, however many read', async () => {
  const files = Array.from({ length: NUM_FILES }, (): string[] => []);
  const sent = Promise.all(
    files.map((written) => sendInTurns(Readable.from(PIECES), createResponse(written))),
  );
  const numSent = () => files.reduce((sum, { length }) => sum + length, 0);
  const inTurn: number[] = [];
  while (numSent() < NUM_FILES * PIECES.length) {
    const before = numSent();
    await setImmediate();
    inTurn.push(numSent() - before);
  }
  await sent;
  expect(Math.max(...inTurn)).toBe(1);
  expect(files).toEqual(files.map(() => PIECES));
});

it('a reader that reads nothing takes no turns', async () => {
  const stalled = new Writable({ highWaterMark: 1, write: () => undefined });
  void sendInTurns(Readable.from(PIECES), stalled);
  const written: string[] = [];
  await sendInTurns(Readable.from(PIECES), createResponse(written));
  expect(written).toEqual(PIECES);
  stalled.destroy();
});

it('a file is closed when its reader leaves, and a reader is cut off from a file that fails', async () => {
  const file = Readable.from(PIECES);
  const left = createResponse([]);
  const sent = sendInTurns(file, left);
  left.destroy();
  await sent;
  expect(file.destroyed).toBe(true);
  const cut = createResponse([]);
  const failing = new Readable({ read: () => failing.destroy(new Error('EIO')) });
  await sendInTurns(failing, cut);
  expect(cut.destroyed).toBe(true);
});
