import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

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

interface LockedPackage {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

const { packages }: { readonly packages: Readonly<Record<string, LockedPackage>> } =
  readJson('package-lock.json');
const folders = [...foldersBelow(importedPackages())].toSorted();
const manifests = folders.map((folder) => ({ folder, manifest: readManifest(folder) }));
const shipped = manifests.filter(({ manifest }) => manifest.name !== 'empty-npm-package');
const forbidden = shipped.filter(({ manifest }) => !isAllowed(licenseOf(manifest)));

for (const { manifest } of forbidden) {
  console.error(
    `${manifest.name} is under ${licenseOf(manifest)}, which isn't on the list of allowed licenses: see tools/checks/third-party-licenses.ts.`,
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

/**
 * The folders of these packages and of all their dependencies. A package that is not installed, as for other platforms, is in no
 * page.
 */
function foldersBelow(names: readonly string[], from = '', found = new Set<string>()): ReadonlySet<string> {
  for (const name of names) {
    const folder = folderOf(name, from);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    foldersBelow(Object.keys(packages[folder]?.dependencies ?? {}), folder, found);
  }
  return found;
}

/** The folder in which `from` finds a package: its own `node_modules`, or that of a folder around it. */
function folderOf(name: string, from: string): string | undefined {
  const own = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (packages[own]) return own;
  return from === ''
    ? undefined
    : folderOf(name, from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1)));
}

function describe({ folder, manifest }: { readonly folder: string; readonly manifest: Manifest }): string {
  const { name, version, author } = manifest;
  const by = typeof author === 'string' ? author : author?.name;
  const head = `${name} ${version}, ${licenseOf(manifest)}${by ? `, by ${by}` : ''}`;
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

function licenseOf({ license = 'no license' }: Manifest): string {
  return license;
}

function readManifest(folder: string): Manifest {
  return readJson(`${folder}/package.json`);
}

// oxlint-disable-next-line typescript/no-explicit-any -- what JSON holds is for the caller to say
function readJson(path: string): any {
  return JSON.parse(readFileSync(path, 'utf8'));
}
