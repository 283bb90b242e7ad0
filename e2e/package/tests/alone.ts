import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { globSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { TARBALL } from '../../../tools/package/build/paths.ts';
import { expect, test as base } from '../app-page.ts';

const run = promisify(execFile);

/** An empty app, in which npm has installed the package alone. */
const test = base.extend<{ readonly app: string }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures from the pattern
  app: async ({}, provide) => {
    const folder = await mkdtemp(join(tmpdir(), 'tabserve-alone-'));
    await cp(TARBALL, join(folder, 'tabserve.tgz'));
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await run('npm', ['install', '--no-audit', '--no-fund', 'tabserve.tgz'], { cwd: folder });
    await provide(folder);
    await rm(folder, { recursive: true });
  },
});

test('npm install tabserve adds no other package, and at most 45 MB', async ({ app }) => {
  const { packages }: { readonly packages: object } = JSON.parse(
    await readFile(join(app, 'node_modules/.package-lock.json'), 'utf8'),
  );
  expect(Object.keys(packages)).toEqual(['node_modules/tabserve']);
  const files = globSync('node_modules/**/*', { cwd: app, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(45e6);
});

test('npx tabserve --headless without playwright-core says in one sentence how to get it', async ({
  app,
}) => {
  const failure: unknown = await run('npx', ['--no-install', 'tabserve', '--headless', '--port', '0'], {
    cwd: app,
  }).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^--headless needs playwright-core: run `npm install playwright-core@1` .*`npx -p tabserve -p playwright-core@1 tabserve --headless`\.\n$/,
    ),
  });
});
