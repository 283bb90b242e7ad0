import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { runCommand } from '../../bridge/browser/commands.ts';

/** Commit of web-platform-tests/wpt. `expected.json` describes its results. */
const COMMIT = '31aa13ab591799c72ba2ba128f47f605e25dcb86';
const REPOSITORY = 'https://github.com/web-platform-tests/wpt';
const FOLDERS = ['ai', 'common', 'resources'];
const TIMEOUT_MS = 300_000;

const CACHE = fileURLToPath(new URL(`../../node_modules/.cache/wpt/${COMMIT}`, import.meta.url));

/** The tests' folder below the root of a checkout. */
export const TESTS = 'ai/language-model';

/**
 * The root of a checkout: the given folder, or a sparse one of the pinned commit, which is fetched once.
 *
 * @throws Error
 */
export async function findCheckout(folder: string | undefined): Promise<string> {
  const root = folder ?? CACHE;
  if (folder === undefined && !existsSync(`${root}/${TESTS}`)) await fetchPinned();
  for (const path of [TESTS, 'resources/testharness.js'])
    if (!existsSync(`${root}/${path}`))
      throw new Error(`${root}/${path} is missing: name a checkout of web-platform-tests/wpt.`);
  return root;
}

async function fetchPinned(): Promise<void> {
  console.log(`Fetching ${REPOSITORY} at ${COMMIT}.`);
  await mkdir(CACHE, { recursive: true });
  await git('init', '--quiet');
  await git('config', 'remote.origin.url', REPOSITORY);
  await git('sparse-checkout', 'set', ...FOLDERS);
  await git('fetch', '--quiet', '--depth=1', '--filter=blob:none', 'origin', COMMIT);
  await git('checkout', '--quiet', COMMIT);
}

async function git(...args: readonly string[]): Promise<void> {
  const { isSuccess } = await runCommand('git', ['-C', CACHE, ...args], { timeoutMs: TIMEOUT_MS });
  if (!isSuccess)
    throw new Error(
      `git ${args[0]} failed: check the network, or name a checkout: node e2e/wpt/main.ts FOLDER.`,
    );
}
