import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{src,bridge,tools}/**/*.test.{ts,tsx}'],
    // Property tests and the tokenizers' vocabularies take seconds, and on a loaded machine many.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    // onnxruntime-web imports it by its address, which Vitest doesn't see.
    server: { deps: { external: [/ort-factory\.ts$/] } },
    restoreMocks: true,
    unstubGlobals: true,
    coverage: {
      provider: 'v8',
      include: ['src/batching/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*test-support.ts', '**/fake-clock.ts'],
      reporter: ['text-summary'],
      thresholds: { statements: 95, branches: 95 },
    },
  },
});
