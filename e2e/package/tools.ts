import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { build, createServer as createViteServer, type UserConfig } from 'vite';
import webpack from 'webpack';

import { appOf, writeApp, type AppParts } from './app.ts';
import type { InstalledPackage } from './installed-package.ts';
import { serveFolders, type HeadersOf, type ServedApp } from '../support/serve-folders.ts';

type Tool = (place: InstalledPackage) => Promise<ServedApp>;

/** Ways to bring the package into a page, by name. Each serves the same app. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  'a build by Vite': (place) => serveViteBuild(place),
  "Vite's development server": (place) => serveViteDevelopment(place),
  'a build by webpack': (place) => serveWebpackBuild(place),
  'a build by esbuild': (place) => serveEsbuildBuild(place),
  'a plain page with an import map': (place) => servePlainPage(place),
};

/** The first lines of docs/embedding.md. @param worker The address of the worker's script. */
const firstLines = (worker: string): string => `import { connect } from 'tabserve';

const worker = () => new Worker(${worker}, { type: 'module' });
const serve = await connect({ worker });
window.serve = serve;
for await (const { text } of serve.generate('Once upon a time,')) document.body.append(text);
`;

const BUNDLED = firstLines("new URL('tabserve/default-worker', import.meta.url)");

/** Ways to bring an app of one file into a page, which has neither a worker of its own nor a copy of a model. readme.ts builds one with Vite. */
export const TOOLS_OF_ONE_FILE: Readonly<Record<string, Tool>> = {
  "Vite's development server": (place) => serveViteDevelopment(place, { app: BUNDLED }, {}),
  'a build by webpack': (place) => serveWebpackBuild(place, { app: BUNDLED }),
  'a plain page with an import map': (place) =>
    servePlainPage(place, {}, firstLines("'/node_modules/tabserve/dist-package/default-worker.js'")),
};

export async function serveViteBuild(place: InstalledPackage, headersOf?: HeadersOf): Promise<ServedApp> {
  return serveFolders([await buildWithVite(place)], headersOf);
}

/** Folders of built apps. Several tests open the same app. */
const built = new Map<string, Promise<string>>();

/** @returns The folder of the built app, which a test must not change. */
export function buildWithVite(
  place: InstalledPackage,
  parts: AppParts = {},
  settings: UserConfig = { worker: { format: 'es' } },
): Promise<string> {
  const key = JSON.stringify([place.folder, { workerModule: 'tabserve/worker', ...parts }, settings]);
  const folder = built.get(key) ?? buildAnew(place, parts, settings);
  built.set(key, folder);
  return folder;
}

async function buildAnew(place: InstalledPackage, parts: AppParts, settings: UserConfig): Promise<string> {
  const root = await writeApp(place, parts);
  await build({
    ...settings,
    root,
    configFile: false,
    logLevel: 'warn',
    build: { target: 'es2024', chunkSizeWarningLimit: 2000 },
  });
  return join(root, 'dist');
}

async function serveViteDevelopment(
  place: InstalledPackage,
  parts?: AppParts,
  // Spares the page a reload.
  settings: UserConfig = { optimizeDeps: { exclude: ['tabserve'] } },
): Promise<ServedApp> {
  const root = await writeApp(place, parts);
  const server = await createViteServer({
    ...settings,
    root,
    configFile: false,
    logLevel: 'warn',
    server: { port: 0, fs: { allow: [place.folder] } },
  });
  await server.listen();
  const [url = ''] = server.resolvedUrls?.local ?? [];
  return { url, close: () => server.close() };
}

async function serveWebpackBuild(place: InstalledPackage, parts?: AppParts): Promise<ServedApp> {
  const context = await writeApp(place, parts);
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
  return serveFolders([path, context]);
}

/**
 * esbuild doesn't copy files that a module refers to by URL. This copies them. The worker gets the folder of the runtime, and the page's
 * script names that of the model.
 *
 * @param app The source of the page's script.
 */
export async function serveEsbuildBuild(
  place: InstalledPackage,
  app = appOf("model: '/models/storyteller/',"),
): Promise<ServedApp> {
  const root = await writeApp(place, { runtimeUrl: '/onnxruntime/', app });
  await bundle({
    absWorkingDir: root,
    entryPoints: ['app.js', 'my-worker.js'],
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: 'dist',
    logLevel: 'error',
    loader: { '.js': 'jsx' },
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  await cp(place.pathOf('dist-package/onnxruntime'), join(root, 'dist/onnxruntime'), { recursive: true });
  await cp(place.pathOf('dist/models'), join(root, 'dist/models'), { recursive: true });
  return serveFolders([join(root, 'dist'), root]);
}

/**
 * Import maps do not reach workers, so the worker's script names the package's file.
 *
 * @param app The source of the page's script.
 */
export async function servePlainPage(
  place: InstalledPackage,
  headers: Readonly<Record<string, string>> = {},
  app?: string,
): Promise<ServedApp> {
  const imports = { tabserve: '/node_modules/tabserve/dist-package/client.js' };
  const root = await writeApp(place, {
    head: `<script type="importmap">${JSON.stringify({ imports })}</script>`,
    workerModule: '/node_modules/tabserve/dist-package/worker.js',
    ...(app !== undefined && { app }),
  });
  return serveFolders([root, place.folder], () => headers);
}
