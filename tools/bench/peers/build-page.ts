import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

import { pathOf } from '../paths.ts';
import type { BenchModel } from '../command-line.ts';
import { writePeerModels, writeSmollm2 } from './models/write-peer-models.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const BUILT_PAGE = pathOf('dist-bench-peers');

const WRITERS: Readonly<Record<BenchModel, (modelsFolder: string) => Promise<void>>> = {
  storyteller: writePeerModels,
  smollm2: writeSmollm2,
};

/** The other libraries start workers from blobs, and fetch data and blob URLs. */
export const LIBRARIES_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "connect-src 'self' data: blob:",
].join('; ');

/** Builds a page of libraries, with the app's own models next to it. */
export async function buildLibraries(root: string, outDir: string): Promise<void> {
  await build({
    root,
    publicDir: pathOf('public'),
    base: './',
    logLevel: 'warn',
    worker: { format: 'es' },
    build: { target: 'es2024', outDir, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  });
}

/** Builds the page of the libraries with their models next to it; returns its folder. */
export async function buildPeersPage(model: BenchModel): Promise<string> {
  await buildLibraries(PAGE, BUILT_PAGE);
  await WRITERS[model](join(BUILT_PAGE, 'models'));
  return BUILT_PAGE;
}

/** Builds the script that lets the benchmark drive the application, for a page that doesn't contain it. */
export async function buildDriver(): Promise<string> {
  const built = await build({
    configFile: false,
    root: PAGE,
    publicDir: false,
    logLevel: 'warn',
    build: {
      target: 'es2024',
      write: false,
      lib: { entry: join(PAGE, 'application.ts'), formats: ['iife'], name: 'driver' },
    },
  });
  const [bundle] = [built].flat();
  if (!bundle || !('output' in bundle)) throw new Error('Vite built no bundle.');
  return bundle.output[0].code;
}
