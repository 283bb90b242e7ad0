import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { build, createServer as createViteServer } from 'vite';
import webpack from 'webpack';

import { writeApp, type AppParts } from './app.ts';
import type { InstalledPackage } from './installed-package.ts';
import { serveFolders, type HeadersOf, type ServedApp } from './serve-folders.ts';

/** Ways to bring the package into a page, by name. Each serves the same app. */
export const TOOLS: Readonly<Record<string, (place: InstalledPackage) => Promise<ServedApp>>> = {
  'a build by Vite': (place) => serveViteBuild(place),
  "Vite's development server": serveViteDevelopment,
  'a build by webpack': serveWebpackBuild,
  'a build by esbuild': (place) => serveEsbuildBuild(place),
  'a plain page with an import map': (place) => servePlainPage(place),
};

export async function serveViteBuild(place: InstalledPackage, headersOf?: HeadersOf): Promise<ServedApp> {
  return serveFolders([await buildWithVite(place)], headersOf);
}

/** @returns The folder of the built app. */
export async function buildWithVite(place: InstalledPackage, parts?: AppParts): Promise<string> {
  const root = await writeApp(place, parts);
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    worker: { format: 'es' },
    build: { target: 'es2024', chunkSizeWarningLimit: 2000 },
  });
  return join(root, 'dist');
}

async function serveViteDevelopment(place: InstalledPackage): Promise<ServedApp> {
  const root = await writeApp(place);
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

async function serveWebpackBuild(place: InstalledPackage): Promise<ServedApp> {
  const context = await writeApp(place);
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

/**
 * esbuild doesn't copy files that a module refers to by URL. This copies them and passes their folder to the worker.
 *
 * @param app The source of the page's script.
 */
export async function serveEsbuildBuild(place: InstalledPackage, app?: string): Promise<ServedApp> {
  const root = await writeApp(place, { runtimeUrl: '/onnxruntime/', ...(app !== undefined && { app }) });
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
  return serveFolders([join(root, 'dist'), join(root, 'public'), root]);
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
  return serveFolders([root, join(root, 'public'), place.folder], () => headers);
}
