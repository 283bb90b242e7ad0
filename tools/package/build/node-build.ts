import { chmod } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { build } from 'vite';

import manifest from '../../../package.json' with { type: 'json' };
import { OUTPUT, ROOT } from './paths.ts';

/** Builds the bridge and the command line with their dependencies. Peers are the user's. */
export async function buildForNode(): Promise<void> {
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    build: {
      target: 'node22',
      outDir: OUTPUT,
      emptyOutDir: false,
      minify: false,
      ssr: true,
      rolldownOptions: {
        input: { node: `${ROOT}bridge/index.ts`, cli: `${ROOT}bridge/main.js` },
        external: [/^node:/, ...builtinModules, ...Object.keys(manifest.peerDependencies)],
        output: { entryFileNames: '[name].js', chunkFileNames: 'node-[name]-[hash].js' },
      },
    },
    ssr: { noExternal: true, external: Object.keys(manifest.peerDependencies) },
  });
  await chmod(`${OUTPUT}cli.js`, 0o755);
}
