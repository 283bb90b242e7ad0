import { defineConfig } from 'vite';

// A page for the tests alone: it reaches below the client, so it is built apart from the product.
export default defineConfig({
  root: import.meta.dirname,
  publicDir: '../../public',
  worker: { format: 'es' },
  build: { target: 'es2024', outDir: '../../dist-probe', emptyOutDir: true },
});
