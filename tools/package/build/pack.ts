import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ROOT, STAGE, TARBALL } from './paths.ts';
import { repositoryOf } from '../../site/repository.ts';
import { publishedDocument, publishedManifest } from './published.ts';

/** Documents by their paths in the package; those that aren't named have the same path in the repository. */
const SOURCES: Readonly<Record<string, string>> = { 'README.md': 'tools/package/README.md' };

/** The page's own copy of onnxruntime, which the package has beside its entries, and the service worker, which would store it. */
const OF_THE_PAGE = /\/dist\/(?:assets\/ort-.*\.wasm|service-worker\.js)$/;

/** Puts the built package together, as a folder and as a file, both with the same content. */
export async function pack(): Promise<void> {
  await rm(STAGE, { recursive: true, force: true });
  await mkdir(STAGE, { recursive: true });
  for (const name of ['dist', 'dist-package', 'LICENSE'])
    await cp(ROOT + name, STAGE + name, { recursive: true, filter: (path) => !OF_THE_PAGE.test(path) });
  // npm refuses a provenance that names another one.
  const repository = repositoryOf(process.env);
  for (const to of ['README.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: ROOT })]) {
    const from = SOURCES[to] ?? to;
    const text = publishedDocument(await readFile(ROOT + from, 'utf8'), { from, to, repository });
    await mkdir(join(STAGE, to, '..'), { recursive: true });
    await writeFile(STAGE + to, text);
  }
  await writeFile(`${STAGE}package.json`, `${JSON.stringify(publishedManifest(repository), undefined, 2)}\n`);
  const args = ['pack', STAGE, '--silent', '--ignore-scripts', '--pack-destination', ROOT];
  const { stdout } = await promisify(execFile)('npm', args);
  // Under a name without the version, which the examples install.
  await rename(ROOT + stdout.trim(), TARBALL);
}
