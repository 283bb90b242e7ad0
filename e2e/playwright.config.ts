import { defineConfig } from 'playwright/test';

import { QUIET_ARGUMENTS, WEBGPU_ARGUMENTS } from '../bridge/browser/launch-arguments.ts';
import { readEnvironment } from './support/environment.ts';
import type { BackendOption } from './support/test.ts';

// The workers read this file again, after the global set-up; before it, there is no environment to read.
const environment = readEnvironment();

const launch = (args: readonly string[]) => ({
  args: [...args],
  ...(environment && { executablePath: environment.pagesBrowserPath }),
});

/** Other browsers', with a configuration of their own. */
const ELSEWHERE = 'browsers/**';

export default defineConfig<BackendOption>({
  testDir: '.',
  outputDir: '../test-results',
  snapshotPathTemplate: '{testDir}/screenshots/{arg}{ext}',
  globalSetup: './global-setup.ts',
  // The first two projects take one worker each, and those of WASM, which are most, come last: all workers end at the same time.
  // One more than CI has cores: a test waits without work for a sixth of its time.
  workers: 3,
  fullyParallel: false,
  forbidOnly: Boolean(process.env['CI']),
  // A test that fails once and then passes is named as flaky in the report; one that fails twice fails the run.
  retries: 1,
  reporter: [['list']],
  // A software adapter compiles its shaders for seconds, and a loaded machine doubles that.
  timeout: 360_000,
  expect: { timeout: 60_000 },
  use: {
    actionTimeout: 60_000,
    // Recording every test costs a third of the machine; a test that failed is recorded at its second try.
    trace: 'on-first-retry',
    launchOptions: launch(WEBGPU_ARGUMENTS),
    // Drawn without a GPU, the animations of a page that loads took as much as its load.
    reducedMotion: 'reduce',
    ...(environment && { baseURL: environment.pageUrl }),
  },
  projects: [
    {
      name: 'webgpu',
      workers: 1,
      use: { backend: 'webgpu' },
      testIgnore: [ELSEWHERE, 'recovery-wasm.spec.ts'],
      grepInvert: /@any-backend/,
    },
    {
      // The packed package in apps of its users. One worker, which packs and installs the package once.
      name: 'package',
      testDir: './package/tests',
      testMatch: '*.ts',
      outputDir: '../test-results/package',
      workers: 1,
      retries: 1,
      // webpack takes half a minute on a loaded machine.
      timeout: 180_000,
      use: { trace: 'on-first-retry', launchOptions: launch(QUIET_ARGUMENTS) },
    },
    {
      name: 'wasm',
      use: { backend: 'wasm' },
      testIgnore: [
        ELSEWHERE,
        'no-adapter.spec.ts',
        'sampler.spec.ts',
        'recovery-gpu.spec.ts',
        'gpu-check.spec.ts',
      ],
    },
  ],
});
