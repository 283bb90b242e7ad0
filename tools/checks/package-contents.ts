import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { sum } from '../bench/statistics.ts';
import { STAGE, TARBALL } from '../package/build/paths.ts';

// Refuses a package with files that don't belong to a release, with other packages in its
// wake, or larger than it has to be.

/** The page for the command, the package's entries, its documents, and the files that npm always adds. */
const ALLOWED =
  /^(?:dist\/(?:assets|models)\/|dist\/[\w.-]+$|dist-package\/|docs\/[\w/-]+\.md$|(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$)/;

/** The page's copy of onnxruntime: the package has it once, in dist-package/. */
const FORBIDDEN = /\.test\.|\.map$|^dist\/assets\/ort-.*\.wasm$/;

/** Text that only the build of `--mode faults` contains, which injects faults. */
const TRACES = ['faults.json', 'injected', 'inject-faults'];

const MAX_PACKED_MB = 13;

/** What `npm install tabserve` adds to an app, in all. */
const MAX_MB = 45;

const REQUIRED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'dist/index.html',
  'dist/models/storyteller/model.safetensors',
  'dist/third-party-licenses.txt',
  'dist-package/cli.js',
  'dist-package/default-worker.js',
  'dist-package/onnxruntime/ort-wasm-simd-threaded.wasm',
  'docs/embedding.md',
];

/** Fields of the manifest that are for a checkout, or would bring other packages. */
const FOREIGN_FIELDS = [
  'private',
  'scripts',
  'overrides',
  'allowScripts',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
];

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const sizes = new Map(
  globSync('**/*', { cwd: STAGE, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(STAGE.length), statSync(path).size]),
);
const unpacked = sum([...sizes.values()]);
const packed = statSync(TARBALL).size;
const manifest: Manifest = JSON.parse(readFileSync(`${STAGE}package.json`, 'utf8'));

const failures = [
  ...[...sizes.keys()]
    .filter((path) => !ALLOWED.test(path) || FORBIDDEN.test(path))
    .map((path) => `${path} does not belong to the package`),
  ...REQUIRED.filter((path) => !sizes.has(path)).map(
    (path) => `${path} is missing: run \`npm run build:package\``,
  ),
  ...[...sizes.keys()]
    .filter((path) => /^dist\/assets\/.*\.js$/.test(path))
    .flatMap((path) => TRACES.filter((trace) => readFileSync(STAGE + path, 'utf8').includes(trace)))
    .map((trace) => `the page has ${trace}, of another build`),
  ...FOREIGN_FIELDS.filter((field) => field in manifest).map((field) => `package.json has ${field}`),
  ...Object.keys(manifest.peerDependencies)
    .filter((name) => !manifest.peerDependenciesMeta[name]?.optional)
    .map((name) => `the peer ${name} is not optional: npm would install it into every app`),
  ...deadLinksOf('README.md').map((link) => `README.md links to ${link}, which is not there`),
  ...(packed > MAX_PACKED_MB * 1e6 ? [`it has ${inMb(packed)} packed, more than ${MAX_PACKED_MB} MB`] : []),
  ...(unpacked > MAX_MB * 1e6 ? [`it has ${inMb(unpacked)}, more than ${MAX_MB} MB`] : []),
];
console.log(`Package: ${sizes.size} files, ${inMb(packed)} packed, ${inMb(unpacked)} unpacked.`);
for (const failure of failures) console.error(`Package: ${failure}.`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Links of a document to files of the package. */
function deadLinksOf(document: string): readonly string[] {
  const text = readFileSync(STAGE + document, 'utf8');
  return Array.from(text.matchAll(/\]\((?!\w+:|#)([^)\s#]+)/g), ([, link = '']) => link).filter(
    (link) => !existsSync(STAGE + link),
  );
}

function inMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
