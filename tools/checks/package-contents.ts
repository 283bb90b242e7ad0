import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';

// Packs the package, lists its files by folder, and refuses files that do not belong to a release.

const FOLDER = 'node_modules/.cache/package';

/** The page for the command, the package's entries, and the files that npm always adds. */
const ALLOWED =
  /^(?:dist\/(?:assets|models)\/|dist\/[\w.-]+$|dist-package\/|(?:package\.json|README\.md|LICENSE)$)/;

/** The page's copy of onnxruntime: the package has it once, in dist-package/. */
const FORBIDDEN = /\.test\.|\.map$|^dist\/assets\/ort-.*\.wasm$/;

const MAX_PACKED_MB = 20;

/** Files that a release must have. */
const REQUIRED = [
  'LICENSE',
  'README.md',
  'dist/index.html',
  'dist/models/storyteller/model.safetensors',
  'dist/third-party-licenses.txt',
  'dist-package/cli.js',
  'dist-package/onnxruntime/ort-wasm-simd-threaded.wasm',
];

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly PackedFile[];
}

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const answer: readonly Packed[] | Readonly<Record<string, Packed>> = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', FOLDER], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
);
// npm answers with a list, or since version 11 with an object by name.
const [packed] = Object.values(answer);
if (!packed) throw new Error('npm pack names no package');
// Under a name without the version, for the checks that follow.
renameSync(`${FOLDER}/${packed.filename}`, `${FOLDER}/tabserve.tgz`);

const paths = new Set(packed.files.map(({ path }) => path));
const failures = [
  ...[...paths]
    .filter((path) => !ALLOWED.test(path) || FORBIDDEN.test(path))
    .map((path) => `${path} does not belong to the package`),
  ...REQUIRED.filter((path) => !paths.has(path)).map(
    (path) => `${path} is missing: run \`npm run build:package\``,
  ),
  ...(packed.size > MAX_PACKED_MB * 1e6
    ? [`the package has ${inMb(packed.size)}, more than ${MAX_PACKED_MB} MB`]
    : []),
];
for (const [folder, files] of Map.groupBy(
  packed.files,
  ({ path }) => path.split('/').slice(0, -1).slice(0, 2).join('/') || '.',
))
  console.log(
    `${folder.padEnd(28)} ${String(files.length).padStart(4)} files ${inMb(files.reduce((sum, { size }) => sum + size, 0)).padStart(10)}`,
  );
console.log(
  `Package: ${packed.files.length} files, ${inMb(packed.size)} packed, ${inMb(packed.unpackedSize)} unpacked.`,
);
for (const failure of failures) console.error(`Package: ${failure}.`);
process.exitCode = failures.length === 0 ? 0 : 1;

function inMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
