import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

import { contentSecurityPolicy } from './bridge/static/content-security-policy.ts';
import { bridgePlugin } from './bridge/vite-plugin.ts';
import { repositoryOf } from './tools/site/repository.ts';
import { RUNTIME_ALIAS } from './tools/site/runtime-alias.ts';
import { staticSitePlugin } from './tools/site/static-site-plugin.ts';

// Cross-origin isolation gives the WASM backend its threads; bridge/ sends the same headers for the built page.
const crossOriginIsolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // The built page runs in any folder of any host.
  base: './',
  plugins: [react(), bridgePlugin(), staticSitePlugin()],
  // The menu links to it.
  define: { 'import.meta.env.REPOSITORY': JSON.stringify(repositoryOf(process.env) ?? '') },
  resolve: { alias: RUNTIME_ALIAS },
  worker: {
    format: 'es',
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Each further file waits for its turn, so a worker's start reads three instead of 23.
            { name: 'main', tags: ['$initial'] },
            { name: 'model-switch', test: /worker\/serving\/models\/model-switch\.ts/ },
          ],
        },
      },
    },
  },
  build: {
    target: 'es2024',
    chunkSizeWarningLimit: 1500,
    // The browsers that run the page know modulepreload.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // The first screen's scripts are one file: each further one waits for a connection, and compresses by itself.
            { name: 'page', tags: ['$initial'] },
            // What several later parts share stands in a few files: the first script names each of them.
            {
              name: 'shared',
              test: /src\/ui\//,
              minShareCount: 2,
              entriesAware: true,
              entriesAwareMergeThreshold: 8000,
            },
          ],
        },
        chunkFileNames: ({ name }) => `assets/${shortName(name)}-[hash].js`,
        assetFileNames: ({ names: [name = ''] }) => `assets/${shortName(name)}-[hash][extname]`,
      },
    },
  },
  server: { port: 8000, headers: crossOriginIsolation },
  preview: {
    port: 8000,
    headers: { ...crossOriginIsolation, 'Content-Security-Policy': contentSecurityPolicy([]) },
  },
});

/** Without the parts that share it, which Rolldown lists after `~`, and without the extension. */
function shortName(name: string): string {
  return name.replace(/~.*|\.\w+$/, '');
}
