import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

// Lists the third-party packages in the built page and the package's entries, with their licenses. `--write` brings the file up
// to date.

const FILE = 'public/third-party-licenses.txt';

/** Licenses that a page under the MIT license may contain without conditions to check. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]);

/** Peers that the user of an entry installs, and what the development server alone needs. */
const NOT_BUNDLED: ReadonlySet<string> = new Set(['@ai-sdk/provider', 'playwright-core', 'vite']);

/** Packages in the examples of code that the page shows. */
const IN_EXAMPLES: ReadonlySet<string> = new Set(['ai', 'tabserve']);

/** The package in an import: `a` of `a/b`, `@a/b` of `@a/b/c`. */
const PACKAGE_IMPORT = /(?:from|import\() ?'(?!node:)((?:@[\w-]+\/)?[a-z][\w.-]*)[^']*'/g;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

const found = [...manifestsOf(importedPackages(), 'package.json')];
const shipped = found
  .filter(([, { name }]) => name !== 'empty-npm-package')
  .toSorted(([a], [b]) => (dirname(a) < dirname(b) ? -1 : 1));
const forbidden = shipped.filter(([, { license = 'no license' }]) => !isAllowed(license));

for (const [, { name, license }] of forbidden) {
  console.error(
    `${name} is under ${license}, which isn't on the list of allowed licenses: see tools/checks/third-party-licenses.ts.`,
  );
}
const text = shipped.map(describe).join(`\n${'-'.repeat(80)}\n\n`);
if (process.argv.includes('--write')) writeFileSync(FILE, text);
const isCurrent = readFileSync(FILE, 'utf8') === text;
if (!isCurrent)
  console.error(`${FILE} is not that of the packages in use: run \`npm run write -- licenses\`.`);
if (isCurrent && forbidden.length === 0) console.log(`Licenses: ${shipped.length} packages, all in ${FILE}.`);
else process.exitCode = 1;

/** The packages that the sources of the page, of the package's entries and of the command import, and that are bundled. */
function importedPackages(): readonly string[] {
  const sources = globSync(['src/**/*.{ts,tsx}', 'bridge/**/*.ts'], {
    exclude: (path) => /\.test\.tsx?$|test-support|\/testing$/.test(path),
  });
  const names = sources.flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(PACKAGE_IMPORT), ([, name = '']) => name),
  );
  return [...new Set(names)].filter((name) => !NOT_BUNDLED.has(name) && !IN_EXAMPLES.has(name));
}

/** The manifests of these packages and of all their dependencies, by their paths. A package of other platforms isn't installed. */
function manifestsOf(
  names: readonly string[],
  importer: string,
  known = new Map<string, Manifest>(),
): ReadonlyMap<string, Manifest> {
  for (const name of names) {
    const path = pathFrom(name, importer);
    if (path === undefined || known.has(path)) continue;
    const manifest: Manifest = JSON.parse(readFileSync(path, 'utf8'));
    known.set(path, manifest);
    manifestsOf(Object.keys(manifest.dependencies ?? {}), path, known);
  }
  return known;
}

function pathFrom(name: string, importer: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(importer));
  } catch {
    return undefined;
  }
}

function describe([path, { name, version, author, license }]: readonly [string, Manifest]): string {
  const by = typeof author === 'string' ? author : author?.name;
  const head = `${name} ${version}, ${license}${by ? `, by ${by}` : ''}`;
  const folder = dirname(path);
  const texts = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice|copying)(?:\.|$)/i.test(file))
    .toSorted()
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').replaceAll('\r\n', '\n').trim());
  return `${[head, ...texts].join('\n\n')}\n`;
}

/** Each license of an SPDX expression such as `(Apache-2.0 AND MIT)`. */
function isAllowed(expression: string): boolean {
  return expression.split(/[()]| AND | OR /).every((name) => name === '' || ALLOWED.has(name));
}
