import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { globSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { TARBALL } from '../../../tools/package/build/paths.ts';
import { expect, test } from '../app-page.ts';

const run = promisify(execFile);

test('npm install tabserve adds no other package, and at most 45 MB; its command says in one sentence how to get playwright-core', async () => {
  // Outside of the repository, whose packages Node would find.
  const app = await mkdtemp(join(tmpdir(), 'tabserve-alone-'));
  await cp(TARBALL, join(app, 'tabserve.tgz'));
  await writeFile(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', '--no-audit', '--no-fund', 'tabserve.tgz'], { cwd: app });
  const { packages }: { readonly packages: object } = JSON.parse(
    await readFile(join(app, 'node_modules/.package-lock.json'), 'utf8'),
  );
  expect(Object.keys(packages)).toEqual(['node_modules/tabserve']);
  const files = globSync('node_modules/**/*', { cwd: app, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(45e6);

  // As npx runs it, which command.ts does.
  const failure: unknown = await run('node_modules/.bin/tabserve', ['--headless', '--port', '0'], {
    cwd: app,
  }).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^--headless needs playwright-core: run `npm install playwright-core@1` .*`npx -p tabserve -p playwright-core@1 tabserve --headless`\.\n$/,
    ),
  });
  await rm(app, { recursive: true });
});
