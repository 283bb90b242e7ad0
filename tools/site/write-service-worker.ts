import { injectManifest } from '@serwist/build';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

import { SERVICE_WORKER_FILE } from '../../bridge/static/static-host-meta.ts';

const SOURCE = fileURLToPath(new URL('../../src/service-worker/main.ts', import.meta.url));

/** Files that the build has named by their content. */
const HASHED = /^assets\/.*-[\w-]{8}\.\w+$/;

/**
 * Builds the service worker of a built page, with the list of the page's files and their revisions. The same page gives the same
 * service worker.
 *
 * @param folder Absolute path of the built page.
 */
export async function writeServiceWorker(folder: string): Promise<void> {
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    // The library is published for bundlers that know the mode.
    define: { 'process.env.NODE_ENV': JSON.stringify('production') },
    build: {
      target: 'es2024',
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: {
        input: SOURCE,
        // A classic script: not every browser that has service workers takes modules.
        output: { format: 'iife', entryFileNames: SERVICE_WORKER_FILE },
      },
    },
  });
  const file = join(folder, SERVICE_WORKER_FILE);
  const { warnings } = await injectManifest({
    swSrc: file,
    swDest: file,
    injectionPoint: 'self.pageFiles',
    globDirectory: folder,
    globPatterns: ['**/*'],
    globIgnores: ['**/*.map', '**/*.md', SERVICE_WORKER_FILE],
    dontCacheBustURLsMatching: HASHED,
    maximumFileSizeToCacheInBytes: Number.MAX_SAFE_INTEGER,
  });
  if (warnings.length > 0)
    throw new Error(`The list of the page's files is not whole: ${warnings.join(' ')}`);
}
