import { defineConfig } from 'vite';

export default defineConfig({
  worker: { format: 'es' },
  // Vite's optimizer would move the worker's parts away from their .wasm files.
  optimizeDeps: { exclude: ['tabserve'] },
});
