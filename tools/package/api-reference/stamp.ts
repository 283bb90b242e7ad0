import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

/** Where `npm run write -- api` writes. */
export const REFERENCE = 'docs/api';

const SOURCES = ['dist-package/types/**/*.d.ts', 'tools/package/api-reference/{*.ts,package.json}'];

/** Names everything that the reference is made from: the package's declarations, and what turns them into pages. */
export function stampOfSources(): string {
  const hash = createHash('sha256');
  const paths = globSync(SOURCES, { exclude: ['**/*.test.ts'] })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
  for (const path of paths) hash.update(`${path}\0${readFileSync(path, 'utf8')}\0`);
  return `<!-- made from ${hash.digest('hex').slice(0, 16)} -->`;
}
