import { defineConfig } from 'vite';

import { RUNTIME_ALIAS } from '../../tools/site/runtime-alias.ts';

// A page for the tests alone: it reaches below the client, so it is built apart from the product.
export default defineConfig({
  root: import.meta.dirname,
  publicDir: '../../public',
  resolve: { alias: RUNTIME_ALIAS },
  worker: { format: 'es' },
  build: { target: 'es2024', outDir: '../../dist-probe', emptyOutDir: true },
});
