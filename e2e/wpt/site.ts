import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';

import { CHAT_MODEL, chatCheckpoint } from '../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { createRepository } from '../../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../../tools/hub-server/hub-server.ts';
import { listen } from '../../bridge/testing/listen.ts';
import { bundleForPage } from '../support/page-script.ts';
import { TESTS } from './checkout.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const OWN = '/own/';
const CHAT_FOLDER = `${OWN}chat/`;

/** Reports the results of a page's tests, and lets tests click its elements. */
const REPORT = `
add_completion_callback((tests, { message }) => {
  window.sendReport({ message, tests: tests.map(({ name, status, message }) => ({ name, status, message: message ?? '' })) });
});
`;
const VENDOR = `
window.test_driver_internal.in_automation = true;
window.test_driver_internal.click = async (element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  await window.clickAt(x + width / 2, y + height / 2);
};
`;

export interface WptSite {
  readonly url: string;
  /** Paths below the tests' folder, sorted. */
  readonly files: readonly string[];
  /** @param isToDownload Whether the model has to be downloaded first, from a mirror of the hub. */
  readonly addressOf: (file: string, isToDownload: boolean) => string;
  close(): Promise<void>;
}

/** Random weights would think until the context is full. */
const GENERATION = { chatTemplateArguments: { enable_thinking: false } };

/** Serves a checkout with our class installed in each test's page. */
export async function serveWpt(checkout: string): Promise<WptSite> {
  const hub = await startHubServer([createRepository(CHAT_MODEL, chatCheckpoint())]);
  const own = new Map<string, string | Uint8Array>([
    ['/resources/testharnessreport.js', REPORT],
    ['/resources/testdriver-vendor.js', VENDOR],
    [`${OWN}worker.js`, `import { startWorker } from '${OWN}package/worker.js';\nstartWorker();\n`],
    [`${OWN}available.js`, await installScript({ model: CHAT_FOLDER })],
    [`${OWN}to-download.js`, await installScript({ model: CHAT_MODEL, load: { hub: hub.url } })],
    ...Array.from(chatCheckpoint(), ([name, file]) => [CHAT_FOLDER + name, file.read(0, file.size)] as const),
  ]);
  const folders = [
    [`${OWN}package/`, sirv(join(ROOT, 'dist-package'))],
    ['/', sirv(checkout, { dev: true })],
  ] as const;
  const { url, close } = await listen((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://localhost');
    const body = own.get(asked.pathname);
    const folder = folders.find(([prefix]) => asked.pathname.startsWith(prefix));
    if (body !== undefined) send(response, asked.pathname, body);
    else if (asked.pathname.endsWith('.window.html')) void sendTestPage(response, checkout, asked);
    else if (folder) {
      const [prefix, handle] = folder;
      request.url = `/${asked.pathname.slice(prefix.length)}`;
      handle(request, response, () => void response.writeHead(404).end());
    }
  }, 'localhost');
  return {
    url,
    files: await testFiles(join(checkout, TESTS)),
    addressOf(file, isToDownload) {
      const page = file.replace(/\.js$/, '.html');
      return `${url}/${TESTS}/${page}${isToDownload ? '?to-download' : ''}`;
    },
    async close() {
      await Promise.all([close(), hub.close()]);
    },
  };
}

/** Paths of `.window.js` files and pages, without the scripts that they share. */
async function testFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true });
  return entries
    .filter((path) => /\.window\.js$|\.https\.html$/.test(path))
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

/** A classic script that installs the packed entry, as the tests' own scripts are classic and run at once. */
function installScript(options: object): Promise<string> {
  const contents = `
    import { installPromptApi } from './dist-package/prompt-api.js';
    installPromptApi({
      force: true,
      backend: 'wasm',
      worker: () => new Worker('${OWN}worker.js', { type: 'module' }),
      ...${JSON.stringify({ generation: GENERATION, ...options })},
    });`;
  return bundleForPage({ stdin: { contents, resolveDir: ROOT } });
}

/** The page that wptserve makes of a script of tests. */
async function sendTestPage(response: ServerResponse, checkout: string, url: URL): Promise<void> {
  const scriptPath = url.pathname.replace(/\.html$/, '.js');
  const source = await readFile(join(checkout, scriptPath), 'utf8').catch(() => '');
  const needed = Array.from(source.matchAll(/^\/\/ META: script=(.+)$/gm), ([, path = '']) => path);
  const installed = url.searchParams.has('to-download') ? 'to-download.js' : 'available.js';
  const scripts = [
    OWN + installed,
    '/resources/testharness.js',
    '/resources/testharnessreport.js',
    ...needed.map((path) => `/${relative('/', resolve(dirname(scriptPath), path))}`),
    // Some tests click without naming it.
    '/resources/testdriver-vendor.js',
    scriptPath,
  ];
  const tags = [...new Set(scripts)].map((path) => `<script src="${path}"></script>`).join('\n');
  send(
    response,
    url.pathname,
    `<!doctype html>\n<meta charset="utf-8">\n<meta name="timeout" content="long">\n<body>\n${tags}\n`,
  );
}

/** By the ending of a path; any other is JSON. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.js', 'text/javascript'],
  ['.html', 'text/html'],
]);

function send(response: ServerResponse, path: string, body: string | Uint8Array): void {
  const type = TYPES.get(extname(path)) ?? 'application/json';
  response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }).end(body);
}
