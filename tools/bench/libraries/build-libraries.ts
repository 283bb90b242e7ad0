import { fileURLToPath } from 'node:url';
import { build } from 'vite';

import { pathOf } from '../../paths.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));

/** The built page of the libraries. */
export const LIBRARIES_ROOT = pathOf('dist-bench');

/** The other libraries start workers from blobs, and fetch data and blob URLs. */
export const LIBRARIES_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "connect-src 'self' data: blob:",
].join('; ');

/** Builds the page of the libraries, with the app's own models next to it. */
export async function buildLibraries(): Promise<void> {
  await build({
    root: PAGE,
    publicDir: pathOf('public'),
    base: './',
    logLevel: 'warn',
    worker: { format: 'es' },
    build: { target: 'es2024', outDir: LIBRARIES_ROOT, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  });
}
