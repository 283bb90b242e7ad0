import { execFile } from 'node:child_process';
import react from '@vitejs/plugin-react';
import { cp, mkdtemp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';

import {
  codeBlocksFor,
  codeBlocksOf,
  type CodeBlock,
  type Harness,
} from '../../tools/documents/code-blocks.ts';
import { statementsOf } from '../../tools/documents/statements.ts';
import type { InstalledPackage } from './installed-package.ts';
import { serveFolders, type ServedApp } from '../support/serve-folders.ts';

const run = promisify(execFile);

/** Writes files of a document beside the installed package. Resolves with their folder. */
export async function writeFilesOf(
  place: InstalledPackage,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await mkdtemp(join(place.folder, 'document-'));
  await writeFilesTo(folder, files);
  return folder;
}

export async function writeFilesTo(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** The files of a document that a harness runs. Blocks of the same name are one file. */
export function filesOf(document: string, harness: Harness): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const { argument, code } of codeBlocksOf(document).filter((block) => block.harness === harness))
    files[argument] = (files[argument] ?? '') + code;
  return files;
}

/** The modules that a page may start with: nothing else of the document imports them. A worker gets a page of its own. */
function entriesOf(files: Readonly<Record<string, string>>): readonly string[] {
  const code = Object.values(files).join('\n');
  return Object.keys(files).filter((name) => !code.includes(`'./${name}'`));
}

const isWorker = (code: string): boolean => code.includes('startWorker(');

/** What documents refer to without showing it. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'my-worker.js': "import { startWorker } from 'tabserve/worker';\nstartWorker();\n",
};

/** A page for a worker of the document that no code of it starts. */
const STARTER = (worker: string): string => `import { connect } from 'tabserve';
const worker = () => new Worker(new URL('./${worker}', import.meta.url), { type: 'module' });
await (await connect({ name: 'starter', worker })).ready();
`;

/**
 * The page's script. A click runs the entry that the address names, as the Prompt API wants one; a component that it exports is
 * shown, and the title says when the entry has run to its end.
 */
const MAIN = (entries: readonly string[]): string => `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

const entries = { ${entries.map((name) => `'${name}': () => import('./${name}')`).join(', ')} };
document.querySelector('button').onclick = async () => {
  const exported = await entries[location.hash.slice(1)]();
  for (const [name, value] of Object.entries(exported))
    if (/^[A-Z]/.test(name)) createRoot(document.querySelector('main')).render(createElement(value));
  document.title = 'It has run';
};
`;

const PAGE =
  '<!doctype html><link rel="icon" href="data:,"><title>A document</title><button>Run</button><main></main><script type="module" src="main.js"></script>\n';

export interface ViteApp extends ServedApp {
  /** Each is the hash of an address that shows it. */
  readonly entries: readonly string[];
}

/** Checks the types of a document's TypeScript, builds its app with Vite, and serves it. */
export async function serveViteApp(place: InstalledPackage, document: string): Promise<ViteApp> {
  const given = filesOf(document, 'vite');
  const workers = entriesOf(given).filter((name) => isWorker(given[name] ?? ''));
  const starters = Object.fromEntries(workers.map((name) => [`start-${name}`, STARTER(name)]));
  const entries = entriesOf({ ...given, ...starters });
  const page = { 'main.js': MAIN(entries), 'index.html': PAGE };
  const root = await writeFilesOf(place, { ...OTHER_FILES, ...given, ...starters, ...page });
  await checkTypes(
    place,
    Object.keys(given).filter((name) => name.endsWith('.ts')),
    root,
  );
  await cp(place.pathOf('dist-package/onnxruntime'), join(root, 'public/onnxruntime'), { recursive: true });
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [react()],
    worker: { format: 'es' },
    build: { target: 'es2024', chunkSizeWarningLimit: 2000 },
  });
  return { ...(await serveFolders([join(root, 'dist')])), entries };
}

async function checkTypes(place: InstalledPackage, files: readonly string[], cwd: string): Promise<void> {
  if (files.length === 0) return;
  const tsc = join(place.folder, 'node_modules/typescript/bin/tsc');
  const options =
    '--noEmit --strict --target es2024 --module esnext --moduleResolution bundler --lib es2024,dom';
  await run(process.execPath, [tsc, ...options.split(' '), '--allowImportingTsExtensions', ...files], {
    cwd,
  });
}

/** Serves the page of a document that needs no bundler. Its scripts and its worker have the documented policy. */
export async function serveDocumentedPage(place: InstalledPackage, document: string): Promise<ServedApp> {
  const [policy] = codeBlocksFor('policy');
  const files = filesOf(document, 'plain');
  const html = `<link rel="icon" href="data:,">${files['index.html']}<script type="module">import './app.js'; document.title = 'It has run';</script>`;
  const folder = await writeFilesOf(place, { ...files, 'index.html': html });
  return serveFolders([folder, place.folder], (path) =>
    path.endsWith('.js') && policy ? { 'Content-Security-Policy': policy.code.trim() } : {},
  );
}

/** A block as a program of Node, which compares what it gets with what the comments say. */
export function nodeProgramOf({ code }: CodeBlock): string {
  const statements = statementsOf(code).map(({ source, declares, expected }) => {
    if (expected === undefined) return source;
    const [expression = ''] = source.split(/;(?=[^;]*$)/);
    const check = `assert.deepEqual(${declares ?? `await (${expression})`}, ${JSON.stringify(expected)});`;
    return declares === undefined ? check : `${source}\n${check}`;
  });
  return `import assert from 'node:assert/strict';\n${statements.join('\n')}\nconsole.log('It has run');\n`;
}
