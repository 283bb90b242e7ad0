import { defineConfig } from 'vite';

export default defineConfig({
  worker: { format: 'es' },
  build: {
    target: 'es2024',
    rolldownOptions: {
      input: ['popup.html', 'offscreen.html', 'src/background.js'],
      // The manifest names the background's file.
      output: { entryFileNames: '[name].js' },
    },
  },
});
