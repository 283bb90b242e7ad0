import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

import { writePeerModels } from './models/write-peer-models.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const PUBLIC = fileURLToPath(new URL('../../public', import.meta.url));
const BUILT_PAGE = fileURLToPath(new URL('../../dist-bench-peers', import.meta.url));

/** Builds the page of all contenders with their models beside it; returns its folder. */
export async function buildPage(): Promise<string> {
  await build({
    root: PAGE,
    publicDir: PUBLIC,
    base: './',
    logLevel: 'warn',
    worker: { format: 'es' },
    build: { target: 'es2024', outDir: BUILT_PAGE, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  });
  await writePeerModels(join(BUILT_PAGE, 'models'));
  return BUILT_PAGE;
}
