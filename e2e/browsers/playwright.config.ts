import { defineConfig } from 'playwright/test';

import type { DrivenOptions } from './test.ts';

/** Playwright runs these tests; the browsers are the distribution's own, which others drive. */
export default defineConfig<DrivenOptions>({
  testDir: '.',
  outputDir: '../../test-results/browsers',
  workers: 1,
  forbidOnly: Boolean(process.env['CI']),
  reporter: [['list']],
  timeout: 120_000,
  projects: [
    { name: 'firefox', use: { drivenBrowser: 'firefox' } },
    { name: 'webkitgtk', use: { drivenBrowser: 'webkitgtk' } },
  ],
});
