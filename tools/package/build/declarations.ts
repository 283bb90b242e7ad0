import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import manifest from '../../../package.json' with { type: 'json' };
import { ENTRIES } from '../entries.ts';
import { OUTPUT, ROOT } from './paths.ts';

const TYPES = join(OUTPUT, 'types');

/** Folders of the projects that the entries reach. */
const PROJECTS = [
  'src/batching',
  'src/platform',
  'src/protocol',
  'src/jobs',
  'src/client',
  'src/worker',
  'src/react',
  'bridge',
];

interface Config {
  readonly compilerOptions: { readonly outDir: string; readonly rootDir: string };
}

const IMPORT = /(from |import\()(['"])([^'"]+)\2/g;

/** Packages whose types a user of the entries that mention them has. */
const KNOWN_PACKAGES = new Set(Object.keys(manifest.peerDependencies));

/** A bundled package whose types the entries mention: types of messages are inferred from its schemas. They are one file. */
const VALIBOT = 'valibot';

/** Writes the declarations that the entries reach, in place of those that are there. */
export async function writeDeclarations(): Promise<void> {
  await rm(TYPES, { recursive: true, force: true });
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-b', ...PROJECTS], { cwd: ROOT });
  const seen = new Set<string>();
  await mkdir(TYPES, { recursive: true });
  const valibot = fileURLToPath(import.meta.resolve(VALIBOT));
  await copyFile(join(dirname(valibot), 'index.d.mts'), join(TYPES, `${VALIBOT}.d.ts`));
  await Promise.all(ENTRIES.map(({ source }) => copyReachable(source, seen)));
}

function emittedOf(source: string): string {
  const project = PROJECTS.find((folder) => source.startsWith(`${folder}/`));
  if (project === undefined) throw new Error(`${source} belongs to none of ${PROJECTS.join(', ')}.`);
  const folder = join(ROOT, project);
  const { compilerOptions }: Config = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
  const { outDir, rootDir } = compilerOptions;
  return join(
    resolve(folder, outDir),
    relative(resolve(folder, rootDir), join(ROOT, declarationsOf(source))),
  );
}

function declarationsOf(source: string): string {
  return source.replace(/\.tsx?$/, '.d.ts');
}

/** @param source Path of a source below the root, with `/`. */
async function copyReachable(source: string, seen: Set<string>): Promise<void> {
  if (seen.has(source)) return;
  seen.add(source);
  const path = declarationsOf(source);
  const text = await readFile(emittedOf(source), 'utf8');
  const imports = Array.from(text.matchAll(IMPORT), ([, , , specifier = '']) => specifier);
  const target = join(TYPES, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(
    target,
    text.replaceAll(IMPORT, (_, before, quote, specifier: string) =>
      [before, quote, publishedSpecifier(specifier, dirname(target)), quote].join(''),
    ),
  );
  for (const specifier of imports.filter((name) => !isOwn(name))) requireKnown(specifier, path);
  const folder = dirname(join(ROOT, source));
  const next = imports.filter(isOwn).map((specifier) => relative(ROOT, resolve(folder, specifier)));
  await Promise.all(next.map((dependency) => copyReachable(dependency, seen)));
}

/** Declarations name modules by their .js files: a user's compiler may refuse imports that end in .ts. */
function publishedSpecifier(specifier: string, folder: string): string {
  if (specifier === VALIBOT) return relative(folder, join(TYPES, `${VALIBOT}.js`));
  return specifier.replace(/^(\..*)\.tsx?$/, '$1.js');
}

function isOwn(specifier: string): boolean {
  return specifier.startsWith('.');
}

/** @throws Error if a user of the package does not have these types. */
function requireKnown(specifier: string, path: string): void {
  if (specifier === VALIBOT || specifier.startsWith('node:')) return;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (!KNOWN_PACKAGES.has(name))
    throw new Error(`${path} has types of ${name}, which is no peer of the package.`);
}
