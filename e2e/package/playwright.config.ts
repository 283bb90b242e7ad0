import { defineConfig } from 'playwright/test';

import { QUIET_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { browserPath } from './environment.ts';

// The packed package in apps of its users: `npm run test:package`.

// The workers read this file again, after the global set-up.
const executablePath = browserPath();

export default defineConfig({
  testDir: './tests',
  testMatch: '*.ts',
  outputDir: '../../test-results/package',
  globalSetup: './global-setup.ts',
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env['CI']),
  retries: 1,
  reporter: [['list']],
  // webpack takes half a minute on a loaded machine.
  timeout: 180_000,
  expect: { timeout: 60_000 },
  use: {
    actionTimeout: 60_000,
    trace: 'on-first-retry',
    launchOptions: { args: [...QUIET_ARGUMENTS], ...(executablePath !== undefined && { executablePath }) },
  },
});
