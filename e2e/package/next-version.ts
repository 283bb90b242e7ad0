import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

import { PROTOCOL_VERSION } from '../../src/protocol/wire.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

/** Builds client.js and worker.js of a package whose protocol is one version ahead. */
export async function buildNextVersion(folder: string): Promise<void> {
  await build({
    entryPoints: {
      client: join(SOURCES, 'client/index.ts'),
      worker: join(SOURCES, 'worker/index.ts'),
    },
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: folder,
    logLevel: 'error',
    plugins: [raiseVersion],
    define: { 'import.meta.env.BASE_URL': '"/"', 'import.meta.env.MODE': '"production"' },
    external: ['node:*', ...builtinModules],
  });
}

const raiseVersion: Plugin = {
  name: 'raise-version',
  setup(bundler) {
    bundler.onLoad({ filter: /protocol\/wire\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const raised = source.replace(
        `PROTOCOL_VERSION = ${PROTOCOL_VERSION};`,
        `PROTOCOL_VERSION = ${PROTOCOL_VERSION + 1};`,
      );
      if (raised === source) throw new Error(`${path} no longer has the version where this looks for it.`);
      return { contents: raised, loader: 'ts' };
    });
  },
};
