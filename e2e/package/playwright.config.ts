import { defineConfig } from 'playwright/test';

// The packed package in apps of its users: `npm run test:package`.

export default defineConfig({
  testDir: '.',
  testMatch: 'apps.ts',
  outputDir: '../../test-results',
  workers: 1,
  reporter: [['list']],
  // webpack takes half a minute on a loaded machine.
  timeout: 180_000,
  expect: { timeout: 60_000 },
});
