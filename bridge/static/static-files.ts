import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join, relative, sep } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import sirv from 'sirv';
import type { Optional } from '../../src/batching/base/records.ts';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { BridgeError, fileReasonOf } from '../base/errors.ts';
import { HtmlFiles } from './html-files.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import type { CommandLineOptions } from '../cli/options.ts';
import { errorShapeOf } from '../http/error-shapes.ts';
import { isServiceWorker, retireServiceWorker } from './retired-service-worker.ts';
import { SERVICE_WORKER_FILE, withoutStaticHostMeta } from './static-host-meta.ts';
import { pipeline } from 'node:stream/promises';

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  // Cross-origin isolation gives the WASM backend its threads.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/** A `.wasm` file of the page, whose name the build has marked with a hash of its content. */
const RUNTIME_FILE = /^\/assets\/(ort-wasm[\w.-]*)-[\w-]{8}\.wasm(?:\?|$)/;

/** The only form that `sirv` reads rightly. An answer of the whole file is right for any other. */
const RANGE = /^bytes=(\d{1,15})-([1-9]\d{0,14})?$/;

export interface StaticFilesOptions extends Optional<Pick<CommandLineOptions, 'hub'>> {
  /** Folder of the built page. */
  readonly root: string;
  /** The page's file in it; `index.html` by default. */
  readonly entry?: string | undefined;
  /** Folder of onnxruntime's `.wasm` files, for a page that was packed without them. */
  readonly runtime?: string | undefined;
  /** The page's Content-Security-Policy. Default: that of the built page. Empty for none, as for a page that brings its own. */
  readonly policy?: string | undefined;
  /** Elements for the page's head. If empty, the page does not ask this server for a bridge. */
  readonly headElements: string;
  /** The error for a path that has no file. */
  readonly nothingAt?: (pathname: string) => HttpError;
}

/** Serves the built page. The file list is read once: rebuild, then restart. */
export function serveStaticFiles({
  root,
  entry = 'index.html',
  runtime,
  hub = [],
  policy = contentSecurityPolicy(hub),
  headElements,
  nothingAt = (pathname) => HttpError.notFound(pathname),
}: StaticFilesOptions): RequestListener {
  const page = pageIn(root, entry);
  const serveFile = sirv(root, { dev: false, etag: true, setHeaders: setFileHeaders });
  const serveRuntime = runtime === undefined ? undefined : serveRuntimeFiles(runtime);
  const markup = readEntry(root, page);
  const ownPage = withoutStaticHostMeta(markup);
  const pageAt = pagesOf(root, headElements, page, ownPage);
  // A page for static hosts has a service worker that must not stay beside a bridge. Any other page may have one of its own.
  const isRetired = ownPage !== markup || !existsSync(join(root, SERVICE_WORKER_FILE));
  return (request, response) => {
    if (!isRange(request.headers.range)) delete request.headers.range;
    response.once('pipe', (file: Readable) => takeOverPipe(file, response));
    if (policy !== '') response.setHeader('Content-Security-Policy', policy);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      refuse(response, HttpError.methodNotAllowed(['GET', 'HEAD']));
    else if (isRetired && isServiceWorker(request)) retireServiceWorker(response);
    else {
      const [pathname = '/'] = (request.url ?? '/').split('?');
      const servePage = pageAt(pathname);
      if (servePage) {
        servePage(request, response);
        return;
      }
      const miss = (): void => refuse(response, nothingAt(pathname), errorShapeOf(pathname));
      serveFile(request, response, () => (serveRuntime ? serveRuntime(request, response, miss) : miss()));
    }
  };
}

/** The page's path below the root, with slashes. @throws BridgeError */
function pageIn(root: string, entry: string): string {
  const page = relative(root, join(root, entry)).replaceAll(sep, '/');
  if (page.startsWith('../') || !/\.html?$/i.test(page))
    throw BridgeError.invalid('entry', `an HTML file in ${root}`, entry);
  if (isFile(join(root, page))) return page;
  throw new BridgeError('PAGE_NOT_BUILT', `There is no ${entry} in ${root}: ${remedyIn(root)}.`);
}

const MAX_NAMED = 5;

function remedyIn(root: string): string {
  const names = existsSync(root) && statSync(root).isDirectory() ? new HtmlFiles(root).names : [];
  if (names.length > 0)
    return `name a page there with --entry, such as ${names.slice(0, MAX_NAMED).join(', ')}`;
  return 'build the page first, as with `npm run build`, or name its folder with --root and its file with --entry';
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** @throws BridgeError */
function readEntry(root: string, page: string): string {
  try {
    return readFileSync(join(root, page), 'utf8');
  } catch (error) {
    const message = `Couldn't read ${page} in ${root}: ${fileReasonOf(error)}. Name a folder with --root that this user may read.`;
    throw new BridgeError('PAGE_NOT_BUILT', message, error);
  }
}

/** What serves the page at a path. Each page of an app finds the bridge: any of them may be the one that is opened. */
function pagesOf(
  root: string,
  headElements: string,
  entry: string,
  markup: string,
): (pathname: string) => RequestListener | undefined {
  const files = new HtmlFiles(root);
  const pages = new Map([[entry, pageWith(headElements, markup)]]);
  return (pathname) => {
    const name = pathname === '/' ? entry : files.at(pathname);
    if (name === undefined || pages.has(name)) return pages.get(name ?? '');
    const path = join(root, name);
    // It may have gone since the start, as any other file.
    if (isFile(path)) pages.set(name, pageWith(headElements, readFileSync(path, 'utf8')));
    return pages.get(name);
  };
}

/** The package has each of these files once, under its own name: it is too large to be there twice. */
function serveRuntimeFiles(
  folder: string,
): (request: IncomingMessage, response: ServerResponse, miss: () => void) => void {
  const serveFile = sirv(folder, { dev: false, etag: true, setHeaders: keepForever });
  return (request, response, miss) => {
    const [, name] = RUNTIME_FILE.exec(request.url ?? '') ?? [];
    if (name === undefined) miss();
    else serveFile(Object.assign(request, { url: `/${name}.wasm` }), response, miss);
  };
}

function isRange(range = ''): boolean {
  const [, start, end = Infinity] = RANGE.exec(range) ?? [];
  return Number(start) <= Number(end);
}

function keepForever(response: ServerResponse): void {
  response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
}

/** Only files under `assets/` have a content hash in their name. Browsers must revalidate all others. */
function setFileHeaders(response: ServerResponse, pathname: string): void {
  if (pathname.startsWith('/assets/')) keepForever(response);
  else response.setHeader('Cache-Control', 'no-cache');
  if (pathname.endsWith('.safetensors')) response.setHeader('Content-Type', 'application/octet-stream');
}

function refuse(
  response: ServerResponse,
  error: HttpError,
  describe: ReturnType<typeof errorShapeOf> = (given) => given,
): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  response.writeHead(error.status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' });
  response.end(`${JSON.stringify(describe(error))}\n`);
}

/** What stands before a page's first element of the head. HTML may leave all of it out. */
const BEFORE_HEAD = /^(?:\s*<(?:!doctype|html|head)\b[^>]*>)*/i;

/** The page with these elements in its head. */
function pageWith(headElements: string, markup: string): RequestListener {
  const page = Buffer.from(
    headElements === '' ? markup : markup.replace(BEFORE_HEAD, (start) => `${start}\n    ${headElements}`),
  );
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`;
  return (request, response) => {
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', etag);
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/html;charset=utf-8', 'Content-Length': page.length });
    response.end(request.method === 'HEAD' ? undefined : page);
  };
}

// Node accepts one connection in a turn of the event loop. A turn that sends a piece to each of a thousand readers would keep
// newcomers waiting for many seconds, so each turn sends one piece of one file.

const waiting: (() => void)[] = [];

function startNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(startNext);
}

function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(startNext);
  return promise;
}

async function* inTurns(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of file) {
    await turn();
    yield piece;
  }
}

/** Sends a file. It is closed when the client leaves; one that can't be read cuts the answer. */
export function sendInTurns(file: Readable, response: Writable): Promise<void> {
  return pipeline(file, inTurns, response).catch(() => void response.destroy());
}

/** Takes over a file that begins to be piped. */
function takeOverPipe(file: Readable, response: ServerResponse): void {
  // `pipe` resumes the file at the end of this turn, before it is open.
  process.nextTick(() => {
    file.unpipe(response);
    void sendInTurns(file, response);
  });
}
