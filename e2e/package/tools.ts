import { cp } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import sirv from 'sirv';
import { build, createServer as createViteServer } from 'vite';
import webpack from 'webpack';

import type { Workplace } from './app-folder.ts';

/** An app that is served. */
export interface ServedApp {
  readonly url: string;
  close(): Promise<void>;
}

/** Ways to bring the package into a page, by name. Each serves the same app. */
export const TOOLS: Readonly<Record<string, (place: Workplace) => Promise<ServedApp>>> = {
  'a build by Vite': serveViteBuild,
  "Vite's development server": serveViteDevelopment,
  'a build by webpack': serveWebpackBuild,
  'a build by esbuild': serveEsbuildBuild,
  'a plain page with an import map': (place) => servePlainPage(place),
};

async function serveViteBuild(place: Workplace): Promise<ServedApp> {
  const root = await place.writeApp('vite');
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    worker: { format: 'es' },
    build: { target: 'es2024', chunkSizeWarningLimit: 2000 },
  });
  return serveFolders([join(root, 'dist')]);
}

async function serveViteDevelopment(place: Workplace): Promise<ServedApp> {
  const root = await place.writeApp('vite-development');
  const server = await createViteServer({
    root,
    configFile: false,
    logLevel: 'warn',
    // Vite's optimizer would move the worker's parts away from their .wasm files.
    optimizeDeps: { exclude: ['tabserve'] },
    server: { port: 0, fs: { allow: [place.folder] } },
  });
  await server.listen();
  const [url = ''] = server.resolvedUrls?.local ?? [];
  return { url, close: () => server.close() };
}

async function serveWebpackBuild(place: Workplace): Promise<ServedApp> {
  const context = await place.writeApp('webpack');
  const path = join(context, 'dist');
  await new Promise<void>((resolve, reject) => {
    const options: webpack.Configuration = {
      mode: 'development',
      devtool: false,
      context,
      entry: './app.js',
      output: { path, filename: 'app.js' },
    };
    webpack(options, (error, stats) => {
      if (error) reject(error);
      else if (stats?.hasErrors()) reject(new Error(stats.toString()));
      else resolve();
    });
  });
  return serveFolders([path, join(context, 'public'), context]);
}

/** esbuild copies no files that a module names: they are copied by hand, and the worker is told where they lie. */
async function serveEsbuildBuild(place: Workplace): Promise<ServedApp> {
  const root = await place.writeApp('esbuild', { runtimeUrl: '/onnxruntime/' });
  await bundle({
    absWorkingDir: root,
    entryPoints: ['app.js', 'my-worker.js'],
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: 'dist',
    logLevel: 'error',
  });
  await cp(runtimeOf(place), join(root, 'dist/onnxruntime'), { recursive: true });
  return serveFolders([join(root, 'dist'), join(root, 'public'), root]);
}

/** Import maps do not reach workers, so the worker's script names the package's file. */
export async function servePlainPage(
  place: Workplace,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServedApp> {
  const imports = { tabserve: '/node_modules/tabserve/dist-package/client.js' };
  const root = await place.writeApp('plain', {
    head: `<script type="importmap">${JSON.stringify({ imports })}</script>`,
    workerModule: '/node_modules/tabserve/dist-package/worker.js',
  });
  return serveFolders([root, join(root, 'public'), place.folder], headers);
}

function runtimeOf(place: Workplace): string {
  return join(place.folder, 'node_modules/tabserve/dist-package/onnxruntime');
}

/** Serves the first folder that has a file. */
async function serveFolders(
  folders: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<ServedApp> {
  const setHeaders = (response: ServerResponse): void => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  };
  const handlers = folders.map((folder) => sirv(folder, { dev: true, setHeaders }));
  const server = createServer((request, response) => {
    const next = (index: number): void => {
      const handle = handlers[index];
      if (handle) handle(request, response, () => next(index + 1));
      else response.writeHead(404).end();
    };
    next(0);
  });
  await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
