import { fileURLToPath } from 'node:url';
import { build } from 'vite';

import { installApart } from '../../install-apart.ts';
import { pathOf } from '../../paths.ts';
import { PEERS } from './describe-libraries.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));

export const LIBRARIES_ROOT = pathOf('dist-bench');

/** The other libraries start workers from blobs, and fetch data and blob URLs. */
export const LIBRARIES_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "connect-src 'self' data: blob:",
].join('; ');

/** Builds the page of the libraries, with the app's own models next to it. Installs those that need another runtime than ours. */
export async function buildLibraries(): Promise<void> {
  await installApart(PEERS, 'the peers');
  const input = ['index', 'tabserve'].map((name) => `${PAGE}/${name}.html`);
  await build({
    root: PAGE,
    publicDir: pathOf('public'),
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { target: 'es2024', outDir: LIBRARIES_ROOT, emptyOutDir: true, rolldownOptions: { input } },
  });
}
