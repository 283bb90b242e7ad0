import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

import { integerOf } from './src/batching/testing/whole-run.ts';

const TESTS = '{src,bridge,tools}/**/*.test.{ts,tsx}';

/**
 * Tests that replace modules, set up the one onnxruntime of a thread, or start what runs until its thread ends: a worker that
 * looks for its bridge would ask the next file's `fetch`. All others share their modules: each is loaded once, not once for each
 * of 300 files.
 */
const ISOLATED = globSync(TESTS).filter((path) =>
  /\bvi\.(?:mock|doMock|resetModules)\(|\b(?:setBuilds|startWorker|keepBridged)\(/u.test(
    readFileSync(path, 'utf8'),
  ),
);

/**
 * They cover the batchers. The others run without the count of what is covered, which takes a third of their time: those of shapes
 * among them, which take longest and cover none.
 */
const COVERING = [
  'src/batching/**/*.test.ts',
  'src/worker/text-generation/*.test.ts',
  'src/worker/text-generation/!(shapes)/**/*.test.ts',
];

/** Property tests and the tokenizers' vocabularies take seconds, and on a loaded machine many; in their whole form, minutes. */
const TIMEOUT_MS = process.env['FULL'] ? 1_200_000 : 30_000;

/** Picks random cases, and those of a part. Vitest hands the environment to its processes. */
process.env['SEED'] ||= String(Date.now() % 2 ** 31);
console.log(`SEED=${integerOf('SEED', 0)}`);

export default defineConfig({
  test: {
    projects: [
      // A thread of its own for each file begins sooner than a process.
      { extends: true, test: { name: 'isolated', include: ISOLATED, pool: 'threads' } },
      {
        extends: true,
        test: { name: 'covering', isolate: false, include: COVERING, exclude: ISOLATED },
      },
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: [TESTS], exclude: [...ISOLATED, ...COVERING] },
      },
    ],
    setupFiles: ['vitest.setup.ts'],
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    // Vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    restoreMocks: true,
    unstubGlobals: true,
    coverage: {
      provider: 'v8',
      include: ['src/batching/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*test-support.ts', '**/testing/*.ts'],
      reporter: ['text-summary'],
      thresholds: { statements: 95, branches: 95 },
    },
  },
});
