import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  worker: { format: 'es' },
  // Vite's optimizer would move the worker's parts away from their .wasm files.
  optimizeDeps: { exclude: ['tabserve'] },
});
